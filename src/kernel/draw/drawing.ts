/** What is drawn at the time: one block, and in it at most one rank. */

import { Clock } from './clock';
import { Picture } from './picture';
import { Sink } from './sink';

let block: Sink | null = null;
let hostClock: Clock | null = null;
let rank: Picture | null = null;

/** The file before is gone. */
export function forgetDrawing(): void {
  block = null;
  hostClock = null;
  rank = null;
}

export function setSink(made: Sink): void {
  block = made;
}

export function setClockOf(made: Clock): void {
  hostClock = made;
}

export function setPicture(made: Picture): void {
  rank = made;
}

export function sink(): Sink {
  return block!;
}

export function clock(): Clock {
  return hostClock!;
}

export function picture(): Picture {
  return rank!;
}
