//! Every command block of README, book and examples, as a reader types it.
//!
//! A block ```` ```sh ```` is run beside the cluster of `capt demo`, in a copy of the checkout. A block that needs more says so
//! (```` ```sh needs=terminal ````). Its scene has what surrounds it: objects, answers, and what has to come of it. Blocks that need
//! Helm, clusterctl or Crossplane are run by `cargo xtask conformance`. Those that need a cloud, a registry, a release or Flux's command line
//! are rehearsed: parsed and validated.

mod demo;
mod home;
mod reader;
mod rehearsal;
mod scene;
mod takeover;

use std::fs;
use std::path::PathBuf;

use capt_api::crd::{Foreign, foreign, own};
use capt_testkit::pages::{Block, FIRST_PAGES, Need, Runner, all_blocks};
use capt_testkit::{TestCluster, loose_definition};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};

use reader::Reader;
use rehearsal::Rehearsal;
use scene::{CTRL_C, Scene, block_of};

/// How many blocks there are of each mark, and who runs them. A mark is cheap to write: whoever adds one changes this table.
const BLOCKS: [(Option<Need>, Runner, usize); 11] = [
    (None, Runner::Test, 14),
    (Some(Need::Cargo), Runner::Test, 2),
    (Some(Need::Cluster), Runner::Test, 13),
    (Some(Need::Terminal), Runner::Test, 7),
    (Some(Need::Clusterctl), Runner::Conformance, 4),
    (Some(Need::Crossplane), Runner::Conformance, 3),
    (Some(Need::Helm), Runner::Conformance, 1),
    (Some(Need::Cloud), Runner::Rehearsal, 7),
    (Some(Need::Flux), Runner::Rehearsal, 2),
    (Some(Need::Image), Runner::Rehearsal, 2),
    (Some(Need::Release), Runner::Rehearsal, 1),
];

fn root() -> PathBuf {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

fn blocks() -> Vec<Block> {
    all_blocks(&root()).unwrap()
}

/// Every scene of every test of this module.
fn scenes() -> Vec<&'static Scene> {
    let beside_demo = [&demo::README, &demo::QUICK_START].into_iter().chain(&demo::SCENES);
    let taken_over = takeover::BEFORE_MANAGER.iter().chain([&takeover::MANAGER, &takeover::BESIDE_MANAGER]);
    beside_demo.chain(&home::SCENES).chain(taken_over).collect()
}

#[test]
fn every_block_is_run_by_somebody_who_is_known() {
    let blocks = blocks();
    for (need, runner, count) in BLOCKS {
        assert_eq!(need.map_or(Runner::Test, Need::runner), runner, "{need:?}");
        let found: Vec<String> = blocks
            .iter()
            .filter(|block| block.need == need)
            .map(|block| format!("{}:{}", block.page, block.line))
            .collect();
        assert_eq!(found.len(), count, "{need:?}: {found:#?}");
    }
    assert_eq!(blocks.len(), BLOCKS.iter().map(|(_, _, count)| count).sum::<usize>(), "a mark is not listed");

    let marked = |block: &&Block| block.need.is_some_and(|need| need.runner() == Runner::Test);
    for block in blocks.iter().filter(marked) {
        let count = scenes().iter().filter(|scene| scene.is_of(block)).count();
        assert_eq!(count, 1, "{}:{} has {count} scenes", block.page, block.line);
    }
    for scene in scenes() {
        assert!(marked(&block_of(scene, &blocks)), "{} needs no scene: {scene:?}", scene.page);
    }
}

#[test]
fn commands_run_as_they_are_written() {
    let (reader, blocks) = (Reader::new(), blocks());
    reader.play(&demo::README, block_of(&demo::README, &blocks));
    let demo = reader.start(&block_of(&demo::QUICK_START, &blocks).text);
    demo.until("The cluster is there");

    let mut pages: Vec<&str> = blocks.iter().map(|block| block.page.as_str()).collect();
    pages.dedup();
    let mut count = 0;
    for page in pages {
        // The first pages say themselves how `kubectl` finds the management cluster; others may change which one it finds.
        let use_demo = || {
            if !FIRST_PAGES.contains(&page) {
                let kubeconfig = reader.path("home/.local/share/capt/kubeconfig");
                reader.use_cluster(&fs::read_to_string(kubeconfig).unwrap());
            }
        };
        use_demo();
        let plain: Vec<&Block> =
            blocks.iter().filter(|block| block.page == page && block.need.is_none()).collect();
        count += plain.len();
        reader.run_blocks(&plain);
        for scene in demo::SCENES.iter().filter(|scene| scene.page == page) {
            use_demo();
            reader.play(scene, block_of(scene, &blocks));
        }
    }
    assert_eq!(count, BLOCKS[0].2);
    demo.types(CTRL_C);
    let (screen, code) = demo.end();
    assert_eq!(code, Some(0), "{screen}");
}

#[test]
fn a_local_management_cluster_is_started_saved_and_restored_as_the_pages_say() {
    let (reader, blocks) = (Reader::new(), blocks());
    for scene in &home::SCENES {
        reader.play(scene, block_of(scene, &blocks));
    }
}

/// An API server that has every kind of the examples and the namespace of the manager.
async fn cluster_with_kinds() -> TestCluster {
    let cluster = TestCluster::start().await;
    let class = loose_definition("cluster.x-k8s.io", "v1beta2", "ClusterClass", "clusterclasses");
    let kinds = [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi), vec![class]];
    cluster.apply_crds(&kinds.concat()).await;
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("capt-system".to_owned());
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_nobody_can_run_here_are_parsed_and_validated() {
    let cluster = cluster_with_kinds().await;
    let rehearsal = Rehearsal::open(&cluster.control_plane().kubeconfig());
    let unrunnable = |block: &Block| block.need.is_some_and(|need| need.runner() != Runner::Test);
    for block in blocks().iter().filter(|block| unrunnable(block)) {
        rehearsal.run(block);
    }
    // It notices what is wrong.
    for (text, right) in [
        ("capt describe cluster prod-1 --watch\n", true),
        ("capt describe cluster prod-1 --wacth\n", false),
        ("kubectl get secret --nmespace team-a\n", false),
        ("cargo xtask image\n", true),
        ("cargo xtask imgae\n", false),
        ("kubectl apply -f examples/eks\n", true),
        ("kubectl apply -f examples/ekz\n", false),
        ("kubectl apply -n elsewhere -f examples/eks\n", false),
        (
            "kubectl create secret generic aws -n nowhere --from-file=credentials=$HOME/.aws/credentials\n",
            false,
        ),
        ("frobnicate --all\n", false),
    ] {
        assert_eq!(rehearsal.output(text).status.success(), right, "{text}");
    }
}
