import type { Contender } from './turns';
import type { UnitName } from './units';

/** One of those that a scenario compares. */
export interface Peer {
  /** What `--peers` and the tables call it. */
  name: string;
}

/** What is measured, and on whom. */
export interface Scenario {
  name: string;
  description: string;
  /** What the cost is counted by. */
  unit: UnitName;
  /** The first is the one that the others are compared with. */
  peers: Peer[];
}

export interface Settings {
  cycles: number;
  /** Length of a slice. */
  seconds: number;
  /** What goes before it unmeasured, in seconds. */
  warmup: number;
  /** Whether processes stay on cores of their own. */
  pinned: boolean;
}

/** Scenarios that are measured in the same way. */
export interface Suite {
  scenarios: Scenario[];
  /** Builds what they need, or throws a sentence that says why they can't run here. */
  prepare(say: (line: string) => void): void;
  start(scenario: Scenario, peer: Peer, settings: Settings): Promise<Contender>;
}
