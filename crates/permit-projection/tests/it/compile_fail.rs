//! Raw details cannot be printed, copied or sent (invariant I8).

#[test]
fn raw_details_have_no_way_out() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
