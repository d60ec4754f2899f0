//! Reads who holds the lock out of a diagnostic.

use serde::{Deserialize, Serialize};

/// Who holds the lock on a state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LockInfo {
    /// What `force-unlock` wants to know.
    pub id: String,
    /// Usually `user@host`.
    pub who: String,
    /// For example `OperationTypeApply`.
    pub operation: String,
    /// When it was taken, as Terraform writes it.
    pub created: String,
}

/// The block that starts with `Lock Info:`.
pub(super) fn parse(detail: &str) -> Option<LockInfo> {
    let (_, block) = detail.split_once("Lock Info:")?;
    let field = |name: &str| {
        block
            .lines()
            .filter_map(|line| line.trim().split_once(':'))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.trim().to_owned())
            .unwrap_or_default()
    };
    let info = LockInfo {
        id: field("ID"),
        who: field("Who"),
        operation: field("Operation"),
        created: field("Created"),
    };
    (!info.id.is_empty()).then_some(info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_read_from_the_message() {
        let detail = "Error message: resource temporarily unavailable\nLock Info:\n  ID:        71a1c11c\n  Path:      /x\n  \
                      Operation: OperationTypeApply\n  Who:       root@vm\n  Version:   1.11.4\n  Created:   2026-11-15 \
                      23:13:32.7 +0000 UTC\n  Info:      \n\n\nTerraform acquires a state lock to protect";

        let info = parse(detail).unwrap();

        assert_eq!(info.id, "71a1c11c");
        assert_eq!(info.who, "root@vm");
        assert_eq!(info.operation, "OperationTypeApply");
        assert_eq!(info.created, "2026-11-15 23:13:32.7 +0000 UTC");
    }

    #[test]
    fn a_message_without_the_block_names_nobody() {
        assert_eq!(parse("Error message: connection refused"), None);
    }
}
