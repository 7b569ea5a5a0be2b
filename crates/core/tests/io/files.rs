//! Folders in every state that a file system can bring them into, and other processes.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn a_file_in_place_of_a_folder_means_missing_and_so_does_the_reverse() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let store: &dyn KeyStore = &store;
    put(store, "a", b"file");
    put(store, "b/c", b"file");
    assert_eq!(get(store, "a/k"), None);
    assert!(store.open("a/k").unwrap().is_none());
    assert!(!store.delete("a/k", Condition::Any).unwrap());
    assert!(store.get("b", 0, &mut Vec::new()).unwrap().is_none());
    assert!(store.open("b").unwrap().is_none());
    assert!(store.write("b", b"", Condition::Any).is_err());
    assert!(store.write("a/k", b"", Condition::Any).is_err());
    assert_eq!(store.children("").unwrap().keys, ["a"]);
}

#[test]
fn a_loop_of_links_is_an_error_to_read_and_no_trap_to_list() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let store: &dyn KeyStore = &store;
    put(store, "a/k", b"1");
    let root = scratch.store().root;
    symlink(root.join("loop"), root.join("loop")).unwrap();
    symlink(&root, root.join("a/up")).unwrap();
    assert!(store.get("loop", 0, &mut Vec::new()).is_err());
    let page = store.list("", "").unwrap().next_page(100).unwrap();
    assert_eq!(page, [("a/k".to_owned(), 1)]);
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_hang() {
    let scratch = Scratch::new();
    let store = scratch.store();
    fs::create_dir_all(&store.root).unwrap();
    let path = std::ffi::CString::new(store.root.join("pipe").to_str().unwrap()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    assert_eq!(get(&store, "pipe"), Some(Vec::new()));
}

#[test]
fn the_root_is_looked_up_at_each_call() {
    let scratch = Scratch::new();
    let store = scratch.store();
    put(&store, "k", b"1");
    fs::rename(&store.root, scratch.0.join("moved")).unwrap();
    assert_eq!(get(&store, "k"), None);
    put(&store, "k", b"2");
    let moved = LocalStore::new(scratch.0.join("moved"));
    assert_eq!(
        (get(&store, "k"), get(&moved, "k")),
        (Some(b"2".to_vec()), Some(b"1".to_vec()))
    );
}

#[test]
fn what_a_killed_writer_left_is_used_again_and_not_listed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    put(&store, "k", b"old");
    for edit in [Edit::Put(b"new".to_vec()), Edit::Keep, Edit::Delete] {
        let lock = store.root.join("k.__lock");
        fs::write(&lock, b"half of something longer").unwrap();
        assert_eq!(
            KeyStore::list(&store, "", "")
                .unwrap()
                .next_page(9)
                .unwrap()
                .len(),
            1
        );
        let mut edit = Some(edit);
        let mut body = |_: Option<&dyn Object>| Ok(edit.take().unwrap());
        Store::update(&store, "k", true, &mut body).unwrap();
        assert!(!lock.exists());
    }
    assert_eq!(fs::read_dir(&store.root).unwrap().count(), 0);
}

/// Runs `body` in a child; fails where it fails.
fn forked(body: impl FnOnce() -> bool) -> impl FnOnce() {
    // SAFETY: the child runs `body` alone and leaves by _exit.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let good = body();
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    move || {
        let mut status = 0;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    }
}

fn add_one(store: &dyn KeyStore, place: usize) -> bool {
    let mut add = |object: Option<&dyn Object>| {
        let mut counts = content(object).unwrap_or(vec![0; 8]);
        counts[place] += 1;
        Ok(Edit::Put(counts))
    };
    store.update("deep/er/k", true, &mut add).is_ok()
}

#[test]
fn updates_of_many_processes_are_all_kept() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let fork_one = |i| {
        forked({
            let store = &store;
            move || (0..50).all(|_| add_one(store, i))
        })
    };
    let children: Vec<_> = (0..8).map(fork_one).collect();
    children.into_iter().for_each(|wait| wait());
    assert_eq!(get(&store, "deep/er/k"), Some(vec![50; 8]));
    assert_eq!(fs::read_dir(store.root.join("deep/er")).unwrap().count(), 1);
}

#[test]
fn memory_works_in_a_child_whatever_other_threads_were_doing() {
    let store = MemoryStore::new();
    let stop = AtomicU64::new(0);
    thread::scope(|scope| {
        for i in 0..3 {
            let (store, stop) = (&store, &stop);
            scope.spawn(move || {
                while stop.load(Ordering::Relaxed) == 0 {
                    add_one(store, i);
                }
            });
        }
        for _ in 0..100 {
            forked(|| add_one(&store, 7) && get(&store, "deep/er/k").is_some())();
        }
        stop.store(1, Ordering::Relaxed);
    });
}

#[test]
fn a_lock_file_that_is_a_link_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    put(&store, "k", b"old");
    let outside = scratch.0.join("outside");
    fs::write(&outside, b"precious").unwrap();
    symlink(&outside, store.root.join("k.__lock")).unwrap();
    assert!(store.write("k", b"new", Condition::Any).is_err());
    assert_eq!(fs::read(&outside).unwrap(), b"precious");
    assert_eq!(get(&store, "k"), Some(b"old".to_vec()));
}

#[test]
fn an_object_that_is_far_too_long_is_refused_unread() {
    let scratch = Scratch::new();
    let store = scratch.store();
    fs::create_dir_all(&store.root).unwrap();
    fs::File::create(store.root.join("k"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let mut buf = Vec::new();
    let result = Store::get(&store, "k", 1000, &mut buf);
    assert!(matches!(result, Err(Error::Limit { .. })));
    assert!(buf.capacity() < 1 << 20);
}
