//! What the engine adds to the bare command line.

mod bare;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use capt_terraform::{
    Arguments, Backend, Engine, Event, Format, Identity, Limits, Locking, Operation, Outcome, ProcessEngine,
    Run, Secret, Settings, Source, VariableFile,
};
use serde_json::{Value, json};

use super::ratio::Pairs;
use crate::progress::tell;
use bare::{Bare, NEW, UNCHANGED};

const RESOURCES: u32 = 20;
const OUTPUTS: u32 = 5;
const VARIABLES: &str = r#"{"size":1}"#;
const WORKSPACE: &str = "bench";

/// Compares the two, in turn.
pub(super) async fn measure(binary: &Path, rounds: u32) -> anyhow::Result<Value> {
    let root = tempfile::tempdir().context("making a directory to work in")?;
    let settings = Settings::new(root.path().join("engine"), binary);
    let engine = ProcessEngine::start(settings.clone()).await.context("starting the Terraform engine")?;
    let comparison = Comparison { root: root.path(), settings, engine };
    // The first round reads the binary from the disk, and is not counted.
    comparison.round(0).await?;
    let (mut same, mut alone, mut unchanged) = (Pairs::default(), Pairs::default(), Pairs::default());
    let (mut control, mut control_unchanged) = (Pairs::default(), Pairs::default());
    for number in 1..=rounds {
        let round = comparison.round(number).await?;
        same.add(round.engine.new, round.bare.new);
        alone.add(round.engine.new, round.bare.without_reading);
        unchanged.add(round.engine.unchanged, round.bare.unchanged);
        control.add(round.control.new, round.bare.new);
        control_unchanged.add(round.control.unchanged, round.bare.unchanged);
        tell(&format!("overhead: round {number} of {rounds}"));
    }
    Ok(json!({
        "tool": comparison.engine.version().to_string(),
        "rounds": rounds,
        "resources": RESOURCES,
        "outputs": OUTPUTS,
        "plan_and_apply": {
            "engine": same.ours().to_json(),
            "bare_init_plan_show_apply_output": same.other().to_json(),
            "ratio_to_bare_init_plan_show_apply_output": same.ratio(),
            "ratio_to_bare_init_plan_show_apply_output_median_of_rounds": same.median_of_ratios(),
            "control_ratio_of_bare_to_bare": control.ratio(),
            "control_ratio_of_bare_to_bare_median_of_rounds": control.median_of_ratios(),
            "bare_init_plan_apply_only": alone.other().to_json(),
            "ratio_to_bare_init_plan_apply_only": alone.ratio(),
            "ratio_to_bare_init_plan_apply_only_median_of_rounds": alone.median_of_ratios(),
        },
        "unchanged_plan": {
            "engine": unchanged.ours().to_json(),
            "bare_plan": unchanged.other().to_json(),
            "ratio_to_bare_plan": unchanged.ratio(),
            "ratio_to_bare_plan_median_of_rounds": unchanged.median_of_ratios(),
            "control_ratio_of_bare_to_bare": control_unchanged.ratio(),
            "control_ratio_of_bare_to_bare_median_of_rounds": control_unchanged.median_of_ratios(),
        },
    }))
}

struct Comparison<'a> {
    root: &'a Path,
    settings: Settings,
    engine: ProcessEngine,
}

struct Round {
    bare: BareTimes,
    /// The same once more: how far its ratio to the other is from 1 is what the machine alone does to a ratio.
    control: BareTimes,
    engine: EngineTimes,
}

struct BareTimes {
    /// All commands that the engine needs, too.
    new: Duration,
    /// Those that a person would type who needs neither the plan nor the outputs in a form for programs.
    without_reading: Duration,
    unchanged: Duration,
}

struct EngineTimes {
    new: Duration,
    unchanged: Duration,
}

impl Comparison<'_> {
    /// Each way once, each in a new directory. They take turns in going first.
    async fn round(&self, number: u32) -> anyhow::Result<Round> {
        let (bare, control) = (|| self.bare(number, "bare"), || self.bare(number, "control"));
        match number % 3 {
            0 => Ok(Round { bare: bare()?, engine: self.engine(number).await?, control: control()? }),
            1 => Ok(Round { engine: self.engine(number).await?, control: control()?, bare: bare()? }),
            _ => Ok(Round { control: control()?, bare: bare()?, engine: self.engine(number).await? }),
        }
    }

    /// By hand. The files are there before the time is taken: the engine has to write its own.
    fn bare(&self, number: u32, name: &str) -> anyhow::Result<BareTimes> {
        let bare = Bare::prepare(&self.settings, self.root.join(format!("{name}-{number}")), &module())?;
        let mut times =
            BareTimes { new: Duration::ZERO, without_reading: Duration::ZERO, unchanged: Duration::ZERO };
        // Nothing else is done meanwhile that a thread of the runtime would be needed for.
        for command in NEW {
            let time = bare.run(command)?;
            times.new += time;
            if !command.only_reads {
                times.without_reading += time;
            }
        }
        times.unchanged = bare.run(&UNCHANGED)?;
        Ok(times)
    }

    async fn engine(&self, number: u32) -> anyhow::Result<EngineTimes> {
        let run = run(number)?;
        let started = Mutex::new(Vec::new());
        let observer = |event: Event| {
            if let Event::Started(verb) = event {
                started.lock().unwrap_or_else(PoisonError::into_inner).push(verb.to_string());
            }
        };
        let begun = Instant::now();
        let planned = self.engine.run(&run, &observer).await.context("planning")?;
        let Outcome::Planned(plan) = planned else { anyhow::bail!("a plan came to {planned:?}") };
        let apply = run.with(Operation::Apply { plan: plan.hash });
        self.engine.run(&apply, &observer).await.context("applying")?;
        let new = begun.elapsed();
        let begun = Instant::now();
        self.engine.run(&run, &observer).await.context("planning again")?;
        let unchanged = begun.elapsed();
        let started = started.into_inner().unwrap_or_else(PoisonError::into_inner);
        let same = NEW.iter().chain([&UNCHANGED]).map(|command| command.name);
        anyhow::ensure!(
            same.eq(started.iter().map(String::as_str)),
            "the engine started other commands: {started:?}"
        );
        Ok(EngineTimes { new, unchanged })
    }
}

fn module() -> String {
    let resource = |number| {
        format!("resource \"terraform_data\" \"r{number}\" {{\n  input = \"${{var.size}}-{number}\"\n}}\n")
    };
    let output = |number| format!("output \"o{number}\" {{\n  value = terraform_data.r{number}.output\n}}\n");
    let variable = "variable \"size\" {\n  type = number\n}\n".to_owned();
    let parts = std::iter::once(variable).chain((0..RESOURCES).map(resource)).chain((0..OUTPUTS).map(output));
    parts.collect()
}

fn run(number: u32) -> anyhow::Result<Run> {
    Ok(Run {
        identity: Identity::try_from(format!("round-{number}"))?,
        workspace: WORKSPACE.to_owned(),
        operation: Operation::Plan,
        source: Source::Inline { format: Format::Hcl, content: Secret::from(module()) },
        entrypoint: String::new(),
        files: Vec::new(),
        variables: vec![VariableFile {
            format: Format::Json,
            sensitive: true,
            content: Secret::from(VARIABLES),
        }],
        environment: Vec::new(),
        arguments: Arguments::default(),
        backend: Backend::Local,
        locking: Locking::default(),
        limits: Limits::default(),
        hidden: Vec::new(),
        provider_lock: None,
        plugin_cache: true,
        earlier_state: capt_terraform::EarlierState::default(),
        imports: Vec::new(),
    })
}
