//! Invariants I1 and I2 as the compiler holds them. After a change of the toolchain, renew the
//! expected output with `TRYBUILD=overwrite` and read the difference.

#[test]
fn no_grant_and_no_caller_can_be_made_outside() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
