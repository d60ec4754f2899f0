//! Who we are towards AWS.

use super::finding::Finding;

const AREA: &str = "AWS";

/// Who we are towards AWS.
#[derive(Clone, Debug)]
pub struct AwsFacts {
    /// Our ARN, or why there is none.
    pub identity: Result<String, String>,
}

impl AwsFacts {
    /// Judges it.
    pub fn judge(&self) -> Finding {
        match &self.identity {
            Ok(arn) => {
                Finding::good(AREA, format!("here, AWS knows us as {arn}; the manager may be somebody else"))
            }
            Err(reason) => Finding::bad(
                AREA,
                format!("AWS does not know us here: {reason}"),
                "`aws sso login`, or set AWS_PROFILE, or give the manager's pod a role (EKS Pod Identity, IRSA)",
            ),
        }
    }
}
