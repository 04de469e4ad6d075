//! Bearer secrets.

use std::collections::HashSet;

use permit_policy::{CredentialKind, Secret, SecretHash, SecretSource};
use permit_system::SystemRandom;

const KINDS: [CredentialKind; 3] = [
    CredentialKind::PersonalAccessToken,
    CredentialKind::Execution,
    CredentialKind::ExecutionSecret,
];

#[test]
fn a_secret_and_its_hash_never_print_themselves() {
    let secret = Secret::presented("kandev_pat_hush");
    assert_eq!(format!("{secret:?}"), "Secret(..)");
    assert_eq!(format!("{secret:#?}"), "Secret(..)");
    let nested = format!("{:?}", Some(&secret));
    assert!(!nested.contains("hush"), "{nested}");
    assert_eq!(format!("{:?}", secret.hash()), "SecretHash(..)");
    assert_eq!(secret.expose(), "kandev_pat_hush");
}

#[test]
fn a_generated_secret_is_of_its_kind_and_of_no_other() {
    for kind in KINDS {
        let secret = Secret::generate(kind, &SystemRandom);
        for other in KINDS {
            assert_eq!(secret.is_of(other), kind == other, "{kind:?} {other:?}");
        }
        let random = secret.expose().strip_prefix(kind.prefix());
        let random = random.expect("its prefix");
        assert_eq!(random.len(), 64);
        assert!(random.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}

#[test]
fn every_byte_of_the_source_is_in_the_secret() {
    struct Counting;
    impl SecretSource for Counting {
        fn random(&self) -> [u8; 32] {
            std::array::from_fn(|at| u8::try_from(at).expect("small"))
        }
    }
    let secret = Secret::generate(CredentialKind::Execution, &Counting);
    assert_eq!(
        secret.expose(),
        "kandev_exec_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    );
}

#[test]
fn no_prefix_begins_another() {
    let prefixes: HashSet<_> = KINDS.map(CredentialKind::prefix).into();
    assert_eq!(prefixes.len(), KINDS.len());
    for one in &prefixes {
        for other in &prefixes {
            assert!(one == other || !one.starts_with(other), "{one} {other}");
        }
    }
}

#[test]
fn a_hash_equals_itself_and_differs_by_any_bit() {
    let hash = Secret::presented("kandev_pat_0123").hash();
    assert_eq!(hash, Secret::presented("kandev_pat_0123").hash());
    assert_eq!(hash, SecretHash::from_bytes(*hash.as_bytes()));
    for at in 0..32 {
        for bit in 0..8 {
            let mut bytes = *hash.as_bytes();
            bytes[at] ^= 1 << bit;
            assert_ne!(hash, SecretHash::from_bytes(bytes), "{at} {bit}");
        }
    }
}

#[test]
fn a_hash_is_the_sha_256_of_the_whole_secret() {
    // `printf abc | sha256sum`
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let hash = Secret::presented("abc").hash();
    let hex: String = hash.as_bytes().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, expected);
}
