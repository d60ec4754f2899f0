//! What makes APIs.

use super::object::Object;
use super::{Health, generic};

pub(super) fn custom_resource_definition(object: Object<'_>) -> Health {
    if let Some(refused) = object.condition("NamesAccepted").filter(|condition| condition.status() == "False")
    {
        return Health::failed(&refused.told("its names are taken"));
    }
    match object.condition("Established") {
        Some(established) if established.status() == "True" => Health::current(),
        Some(refused) if refused.status() == "False" && refused.reason() != "Installing" => {
            Health::failed(&refused.told("it is not established"))
        }
        Some(_) | None => Health::in_progress("the API server has not established it yet"),
    }
}

pub(super) fn api_service(object: Object<'_>) -> Health {
    generic::required(object, "Available", "the API server has not tried to reach it yet")
}
