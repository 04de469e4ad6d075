//! Invariant I3 as the compiler holds it: claim, then deliver, then finalize, then answer. After
//! a change of the toolchain, renew the expected output with `TRYBUILD=overwrite` and read the
//! difference.

#[test]
fn no_step_of_a_resolution_can_be_skipped_forged_or_taken_twice() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
