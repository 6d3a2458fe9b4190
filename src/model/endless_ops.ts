/**
 * Names of connections on which NCCL never reports the end of an operation (src/kernel/endless.ts): communicator, channel, peer, user. Sends
 * are never on these connections.
 */

/** As src/kernel/endless.ts numbers them. If an operation's work is not known, it may be either. */
const USERS = ['Coll', 'P2p', 'unknown'];

/** `comm`: its number; -1: not known. */
export const connectionKey = (comm: number, channel: number, peer: number, user: number): string =>
  `${comm < 0 ? 'none' : comm} ${channel} ${peer} ${USERS[user]!}`;

/** The numbers in the name. */
export function readConnectionKey(key: string): [comm: number, channel: number, peer: number, user: number] {
  const [comm, channel, peer, user] = key.split(' ');
  return [comm === 'none' ? -1 : Number(comm), Number(channel), Number(peer), USERS.indexOf(user!)];
}
