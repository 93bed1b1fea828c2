'use strict';

// `napi build` with the flags given, so that the addon names no folder of the machine that built it:
// rustc writes the paths of the sources into it, for the messages of panics.

const os = require('node:os');
const path = require('node:path');

const { show } = require('./util/command');
const { napiCli } = require('./util/paths');

const cargoHome = process.env.CARGO_HOME ?? path.join(os.homedir(), '.cargo');
const flags = [process.env.RUSTFLAGS ?? '', `--remap-path-prefix=${cargoHome}=cargo`];
// RUSTFLAGS has no way to write a space.
if (!/\s/.test(cargoHome)) process.env.RUSTFLAGS = flags.join(' ').trim();

if (!show([process.execPath, napiCli, 'build', ...process.argv.slice(2)])) process.exitCode = 1;
