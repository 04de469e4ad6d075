use permit_domain::ActionType;
use permit_projection::RawDetails;

fn main() {
    let raw = RawDetails::new(ActionType::Command);
    let _ = serde_json::to_string(&raw);
}
