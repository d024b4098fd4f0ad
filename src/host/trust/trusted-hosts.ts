/**
 * The Hosts whose word about rows counts: those that a setting or a file lists, and bootstrap peers and other replicas of
 * this Host that proved to be Hosts, whatever HOST_TRUST says of signers. The Host itself is none of them, whoever lists
 * it: what it signed is its own.
 */
import type { Logger } from 'pino'
import { runtimeVersion } from '../../lens/program/run-limits.ts'
import type { FailureReport } from '../../service/contract.ts'
import type { Writer } from '../apply/writer.ts'
import type { AcceptedList, AcceptedSource } from './accepted-list.ts'
import type { JsonRecordParts } from './json-record.ts'
import { openPinnedList } from './pinned-list.ts'
import { rememberSigners, type SignersFile } from './signers-file.ts'
import { hostFailures } from './trust-failures.ts'

interface TrustedHostsOptions {
  /** The identities of HOST_TRUSTED_HOSTS. */
  readonly listed: readonly string[]
  /** The identity of this Host. */
  readonly own: string
}

interface TrustedHostsParts extends JsonRecordParts {
  readonly writer: Pick<Writer, 'putRecord' | 'setAcceptedHosts'>
  readonly log: Logger
  /** The file of Hosts; null without one. */
  readonly file: SignersFile | null
}

/** As `AcceptedSource`; `peer` is also the replica of this Host that proved it. */
export interface AcceptedHost extends Omit<AcceptedSource, 'source'> {
  readonly source: AcceptedSource['source'] | 'sibling'
}

export interface TrustedHosts {
  /** Everybody who is accepted, each identity once. */
  sources(): readonly AcceptedHost[]
  /** What an operator should check. */
  failures(): readonly FailureReport[]
  /** Calls the listener whenever others are accepted from now on. */
  onChange(listener: () => void): void
  /** The file of Hosts changed. */
  onFile(): void
  /** A bootstrap peer proved to be a Host. */
  prove(peer: string, identity: string): void
  /** Forgets what others than these peers proved. */
  keepPeers(peers: readonly string[]): void
  /** Another replica of this Host proved to be a Host. */
  proveSibling(peer: string, identity: string): void
  /** Forgets what other replicas than these proved. */
  keepSiblings(peers: readonly string[]): void
}

/** Begins with what was proven before. */
export function openTrustedHosts(
  { listed, own }: TrustedHostsOptions,
  parts: TrustedHostsParts,
): TrustedHosts {
  const { log, reader, writer, onFatal } = parts
  const file = rememberSigners('hosts-file', parts.file, parts)
  const list = openPinnedList('host-pins', { mode: 'bootstrap', listed }, parts)
  const siblings = openPinnedList('sibling-pins', { mode: 'bootstrap', listed: [] }, parts)
  const sources = (): readonly AcceptedHost[] => othersOf(list, siblings, own)
  const listeners: (() => void)[] = []
  let reported: string | null = null
  const update = (): void => {
    const identities = sources().map(({ identity }) => identity)
    const text = identities.join()
    if (text === reported) return
    if (reported !== null || identities.length > 0)
      log.info({ hosts: identities.length }, 'accepted Hosts')
    reported = text
    reader.countRowVotesOf({ hosts: new Set([own, ...identities]), runtime: runtimeVersion })
    writer.setAcceptedHosts(identities).catch(onFatal)
    for (const listener of listeners) listener()
  }
  const prove = (
    which: AcceptedList,
    who: 'bootstrap peer' | 'sibling',
    peer: string,
    found: string,
  ): void => {
    if (which.prove(peer, found)) {
      log.info({ peer, host: found }, `${who} proved a Host’s identity`)
      update()
    }
    for (const { pinned } of which.changed().filter((change) => change.peer === peer))
      log.error({ peer, pinned, found }, `${who} proves another identity`)
  }
  const keep = (which: AcceptedList, peers: readonly string[]): void => {
    if (which.keepPeers(peers)) update()
  }
  list.setFile(file?.values() ?? [])
  update()
  return {
    sources,
    failures: () => hostFailures({ list, siblings, file }),
    onChange: (listener) => void listeners.push(listener),
    onFile: () => {
      list.setFile(file?.values() ?? [])
      file?.save()
      update()
    },
    prove: (peer, identity) => prove(list, 'bootstrap peer', peer, identity),
    keepPeers: (peers) => keep(list, peers),
    proveSibling: (peer, identity) => prove(siblings, 'sibling', peer, identity),
    keepSiblings: (peers) => keep(siblings, peers),
  }
}

/** Everybody of both lists but this Host itself, each identity once: what is listed before what a sibling proved. */
function othersOf(list: AcceptedList, siblings: AcceptedList, own: string): AcceptedHost[] {
  const named = list.sources()
  const known = new Set([own, ...named.map(({ identity }) => identity)])
  const further = siblings
    .sources()
    .filter(({ identity }) => !known.has(identity))
    .map((each) => ({ ...each, source: 'sibling' as const }))
  return [...named.filter(({ identity }) => identity !== own), ...further]
}
