/**
 * The Hosts whose word about rows counts: those that a setting or a file lists, and bootstrap peers that proved to be
 * Hosts, whatever HOST_TRUST says of signers. The Host itself is none of them, whoever lists it: what it signed is its own.
 */
import type { Logger } from 'pino'
import { runtimeVersion } from '../../lens/program/run-limits.ts'
import type { FailureReport } from '../../service/contract.ts'
import type { Writer } from '../apply/writer.ts'
import { type AcceptedSource, createAcceptedList } from './accepted-list.ts'
import { type JsonRecordParts, openJsonRecord } from './json-record.ts'
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

export interface TrustedHosts {
  /** Everybody who is accepted, each identity once. */
  sources(): readonly AcceptedSource[]
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
}

/** Begins with what was proven before. */
export function openTrustedHosts(
  { listed, own }: TrustedHostsOptions,
  parts: TrustedHostsParts,
): TrustedHosts {
  const { log, reader, writer, onFatal } = parts
  const pinned = openJsonRecord<Readonly<Record<string, string>>>('host-pins', parts)
  const file = rememberSigners('hosts-file', parts.file, parts)
  const list = createAcceptedList({ mode: 'bootstrap', listed, pins: pinned.read() ?? {} })
  const sources = (): readonly AcceptedSource[] =>
    list.sources().filter(({ identity }) => identity !== own)
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
  list.setFile(file?.values() ?? [])
  update()
  return {
    sources,
    failures: () => hostFailures(list, file),
    onChange: (listener) => void listeners.push(listener),
    onFile: () => {
      list.setFile(file?.values() ?? [])
      file?.save()
      update()
    },
    prove: (peer, found) => {
      if (list.prove(peer, found)) {
        log.info({ peer, host: found }, 'bootstrap peer proved a Host’s identity')
        pinned.put(list.pins())
        update()
      }
      for (const { pinned } of list.changed().filter((change) => change.peer === peer))
        log.error({ peer, pinned, found }, 'bootstrap peer proves another identity')
    },
    keepPeers: (peers) => {
      if (!list.keepPeers(peers)) return
      pinned.put(list.pins())
      update()
    },
  }
}
