//! Flags that say who is told of failed and recovered add-ons.

use std::ffi::OsStr;
use std::path::PathBuf;

use capt_controller::options::{InvalidWebhookUrl, WebhookUrl};
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command};

/// Who is told of failed and recovered add-ons.
#[derive(Debug, Args)]
#[command(next_help_heading = "Add-ons")]
pub(crate) struct WebhookArguments {
    /// Tell this address of every add-on that fails or recovers, by a POST with one line of JSON
    #[arg(long = "addon-webhook", value_name = "URL", value_parser = Address)]
    #[arg(env = "CAPT_ADDON_WEBHOOK", hide_env_values = true)]
    pub(crate) url: Option<WebhookUrl>,
    /// Sign what is told with the key in this file: HMAC-SHA256, in the header X-Capt-Signature
    #[arg(long = "addon-webhook-key-file", value_name = "FILE", requires = "url")]
    pub(crate) key_file: Option<PathBuf>,
}

/// Reads an address. One that cannot be used is not repeated, as clap would do: it may hold a password.
#[derive(Clone, Copy, Debug)]
struct Address;

impl TypedValueParser for Address {
    type Value = WebhookUrl;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<WebhookUrl, clap::Error> {
        let url = value.to_str().and_then(|text| text.parse().ok());
        url.ok_or_else(|| {
            let message = format!("invalid value for '--addon-webhook <URL>': {InvalidWebhookUrl}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}
