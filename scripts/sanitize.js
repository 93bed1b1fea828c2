'use strict';

// Runs the tests of sockets with the address sanitizer in the addon, and fails if it finds anything
// in any process or worker that they start: memory used past its end or after it was freed, and
// memory of the addon that nobody holds at the end.
//
//   npm run sanitize                                    all of them
//   npm run sanitize -- __test__/net/writing.test.js    a file of them, with flags of `node --test`
//
// Options of the sanitizer may be given in ASAN_OPTIONS.

const fs = require('node:fs');
const path = require('node:path');

const { requireCargo } = require('./util/build');
const { capture, run, show } = require('./util/command');
const { listFiles } = require('./util/files');
const { FRAME_FORMAT, findings } = require('./util/findings');
const { inRoot, root } = require('./util/paths');

const folder = inRoot('target/sanitize');
const reports = path.join(folder, 'reports');
const addon = path.join(folder, 'oxwire.node');
const runtime = path.join(folder, 'asan.so');

function main() {
  const given = process.argv.slice(2);
  const chosen = given.some((argument) => !argument.startsWith('-')) ? [] : socketTests();
  requireTools();
  const target = hostTarget();
  // The dynamic linker and the sanitizer take lists, which these separate.
  if (/[\s:,]/.test(root)) throw new Error(`${root} has a space, a colon or a comma in it.`);

  fs.rmSync(reports, { recursive: true, force: true });
  fs.mkdirSync(reports, { recursive: true });
  linkRuntime(target);
  buildAddon(target);
  tryOut();

  const passed = show([process.execPath, 'scripts/test.js', ...given, ...chosen], { env: env() });
  const found = findings(reports, addon, runtime);
  if (found.length > 0) {
    // What comes behind the summary is for those who work on the sanitizer.
    console.error(`\n${found[0].split('SUMMARY:')[0].trim()}`);
    const who = found.length === 1 ? 'a process has' : `${found.length} processes have`;
    throw new Error(`${who} reported something. The first is above, all are in ${reports}.`);
  }
  if (!passed) throw new Error('nothing found, but tests have failed.');
  console.log('\nsanitize: nothing found');
}

function socketTests() {
  const files = listFiles(inRoot('__test__/net')).filter((file) => file.endsWith('.test.js'));
  return [...files.map((file) => `__test__/net/${file}`), '__test__/turbo-net.test.js'];
}

function requireTools() {
  requireCargo();
  for (const tool of ['cc', 'ar', 'addr2line']) {
    if (capture([tool, '--version']).ok) continue;
    throw new Error(
      `\`${tool}\` does not run here. Install a C compiler and binutils, as with ` +
        '`apt-get install gcc binutils`.',
    );
  }
}

/** @returns {string} what Rust calls this machine */
function hostTarget() {
  const [, target] = /^host: (.+)$/m.exec(run(['rustc', '-vV'])) ?? [];
  if (process.platform === 'linux' && target?.endsWith('-gnu')) return target;
  throw new Error(`this works on Linux with glibc alone, and Rust is here for ${target}.`);
}

/**
 * Node is built without the sanitizer, so its runtime is loaded before Node. The one that fits the
 * compiler comes with it, to be linked into programs; here it becomes a library.
 *
 * @param {string} target
 */
function linkRuntime(target) {
  const libraries = run(['rustc', '--print', 'target-libdir', '--target', target]).trim();
  const archive = fs.readdirSync(libraries).find((file) => file.endsWith('_rt.asan.a'));
  if (!archive) {
    throw new Error(
      `the Rust toolchain has no sanitizer (a file *_rt.asan.a in ${libraries}). ` +
        'Those from https://rustup.rs have it; packages of systems may not.',
    );
  }
  const copy = path.join(folder, 'asan.a');
  fs.copyFileSync(path.join(libraries, archive), copy);
  // This part starts the runtime early in a program, and no library may have it. Without it, the
  // first allocation starts the runtime.
  run(['ar', 'd', copy, 'asan_preinit.cpp.o']);
  const whole = ['-Wl,--whole-archive', copy, '-Wl,--no-whole-archive'];
  run(['cc', '-shared', '-o', runtime, ...whole, '-lpthread', '-ldl', '-lm', '-lrt']);
}

/** @param {string} target */
function buildAddon(target) {
  console.log('sanitize: building the addon');
  // With a target, build scripts and macros go without the sanitizer.
  const flags = ['--locked', '--lib', '--target', target, '--target-dir', folder];
  const settings = {
    // Sanitizers are for nightly compilers; this makes a stable one take them.
    RUSTC_BOOTSTRAP: '1',
    CARGO_ENCODED_RUSTFLAGS: '-Zsanitizer=address',
  };
  if (!show(['cargo', 'build', ...flags], { env: { ...process.env, ...settings } })) {
    throw new Error('the addon does not build with the sanitizer: see above.');
  }
  fs.copyFileSync(path.join(folder, target, 'debug/liboxwire.so'), addon);
}

/** Whether the addon loads at all, so that what is wrong with the machine is no failure of tests. */
function tryOut() {
  const { ok, output } = capture([process.execPath, '-e', `require('${root}')`], { env: env() });
  const found = findings(reports, addon, runtime);
  if (ok && found.length === 0) return;
  throw new Error(
    `Node does not run with the sanitizer here:\n${output}${found.join('\n')}\n` +
      'Looking for leaks needs the right to trace; ASAN_OPTIONS=detect_leaks=0 does without.',
  );
}

/** The environment of a Node with the sanitizer; what it starts takes it over. */
function env() {
  const options = {
    // A file for each process that has something to report: a test may not look at how it ends.
    log_path: path.join(reports, 'report'),
    // `findings` says which leaks count, so the exit code of a process is not to depend on them.
    detect_leaks: 1,
    exitcode: 0,
    abort_on_error: 1,
    // Crashes and aborts too; 2 keeps the handler when Node sets its own.
    handle_segv: 2,
    handle_sigbus: 2,
    handle_abort: 2,
    handle_sigill: 2,
    handle_sigfpe: 2,
    // JavaScript may ask for more memory than there is, and gets an exception.
    allocator_may_return_null: 1,
    // `findings` does it, for what counts.
    symbolize: 0,
    stack_trace_format: `"${FRAME_FORMAT}"`,
  };
  const own = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return {
    ...process.env,
    LD_PRELOAD: runtime,
    NAPI_RS_NATIVE_LIBRARY_PATH: addon,
    ASAN_OPTIONS: [...own, process.env.ASAN_OPTIONS ?? ''].join(':'),
  };
}

try {
  main();
} catch (error) {
  console.error(`\nsanitize: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
