use permit_projection::RawOption;

fn main() {
    let option = RawOption::new("id", "name", "allow_once");
    let copy: RawOption = option.clone();
    drop(copy);
}
