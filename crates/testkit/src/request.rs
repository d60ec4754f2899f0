//! What is asked of an API server, in the words of its permissions.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Uri};

/// What a server-side apply is told by.
const APPLY: &str = "application/apply-patch+yaml";

/// Verb and resource of a request. The resource is named with its subresource; where there is none, as when it is asked which
/// kinds there are, it is the path.
pub fn verb_and_resource(method: &Method, uri: &Uri, headers: &HeaderMap) -> (&'static str, String) {
    let parts: Vec<_> = uri.path().split('/').filter(|part| !part.is_empty()).collect();
    // `api/v1` or `apis/group/version`, then `namespaces/name` where there is one.
    let rest = parts.get(if parts.first() == Some(&"api") { 2 } else { 3 }..).unwrap_or_default();
    if rest.is_empty() {
        return ("get", uri.path().to_owned());
    }
    let rest = if rest.len() > 2 && rest[0] == "namespaces" { &rest[2..] } else { rest };
    let watches = uri.query().is_some_and(|query| query.contains("watch=true"));
    let applies = headers.get(CONTENT_TYPE).is_some_and(|kind| kind == APPLY);
    let verb = match *method {
        Method::GET if watches => "watch",
        Method::GET if rest.len() > 1 => "get",
        Method::GET => "list",
        Method::POST => "create",
        Method::PATCH if applies => "apply",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "replace",
    };
    let resource = rest.iter().enumerate().filter(|(index, _)| *index != 1).map(|(_, part)| *part);
    (verb, resource.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn told(method: &Method, uri: &str, content_type: &'static str) -> String {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        let (verb, resource) = verb_and_resource(method, &uri.parse().unwrap(), &headers);
        format!("{verb} {resource}")
    }

    #[test]
    fn requests_are_told_apart_by_verb_and_resource() {
        let secrets = "/api/v1/namespaces/default/secrets";
        assert_eq!(told(&Method::GET, secrets, ""), "list secrets");
        assert_eq!(told(&Method::GET, &format!("{secrets}?watch=true"), ""), "watch secrets");
        assert_eq!(told(&Method::GET, &format!("{secrets}/one"), ""), "get secrets");
        assert_eq!(told(&Method::PATCH, &format!("{secrets}/one?force=true"), APPLY), "apply secrets");
        assert_eq!(told(&Method::PATCH, &format!("{secrets}/one"), ""), "patch secrets");
        assert_eq!(told(&Method::GET, "/api/v1/namespaces/default", ""), "get namespaces");
        let workspaces = "/apis/tf.upbound.io/v1beta1/workspaces/one";
        assert_eq!(told(&Method::PATCH, &format!("{workspaces}/status"), APPLY), "apply workspaces/status");
        assert_eq!(told(&Method::DELETE, workspaces, ""), "delete workspaces");
    }

    #[test]
    fn what_is_no_resource_is_told_by_its_path() {
        assert_eq!(told(&Method::GET, "/api/v1", ""), "get /api/v1");
        assert_eq!(told(&Method::GET, "/apis/apps/v1?timeout=1s", ""), "get /apis/apps/v1");
        assert_eq!(told(&Method::GET, "/version", ""), "get /version");
    }
}
