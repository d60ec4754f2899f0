//! Flags of `capt completion`.

use clap::Args;
use clap_complete::Shell;

/// Print the script that completes what you type, for your shell.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  capt completion bash > ~/.local/share/bash-completion/completions/capt
  capt completion zsh > ~/.zfunc/_capt       with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  capt completion fish > ~/.config/fish/completions/capt.fish
  capt completion powershell >> $PROFILE
  source <(capt completion bash)             for this shell only; zsh takes the same line after compinit

Make the directory first where it is not there, and open a new shell afterwards. Write the script again after an update of capt."
)]
pub(crate) struct CompletionArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}
