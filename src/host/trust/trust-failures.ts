/** What an operator should check about the accepted signers and Hosts, as `/health` reports it. */

import type { PeerIdentity } from '../../mesh/peer-identity.ts'
import type { FailureReport, TrustMode } from '../../service/contract.ts'
import type { AcceptedList, ChangedSigner } from './accepted-list.ts'
import type { SignersFile } from './signers-file.ts'

export interface TrustFacts {
  readonly mode: TrustMode
  readonly list: Pick<AcceptedList, 'sources' | 'changed'>
  /** The bootstrap peers. */
  readonly peers: readonly string[]
  /** Who connected bootstrap peers proved to be. */
  readonly proven: ReadonlyMap<string, PeerIdentity>
  /** The file of signers; null without one. */
  readonly file: SignersFile | null
}

export const anyoneFailure: FailureReport = {
  code: 'HOST_TRUSTS_ANYONE',
  message: 'HOST_TRUST is anyone: whoever signs a block decides what is stored and served.',
  remedy:
    'Leave HOST_TRUST out, or name signers in HOST_TRUSTED_SIGNERS; anyone is for experiments.',
}

/** The failures of this moment, the cause before what follows from it. */
export function trustFailures(facts: TrustFacts): FailureReport[] {
  const { mode, list, file } = facts
  if (mode === 'anyone') return [anyoneFailure]
  const problem = file?.problem() ?? null
  return [
    ...(file === null || problem === null ? [] : [signersFileFailure(file, problem)]),
    ...(list.sources().length === 0 ? [noSignerFailure(facts)] : []),
    ...list.changed().map(changedFailure),
  ]
}

interface HostFacts {
  readonly list: Pick<AcceptedList, 'changed'>
  /** Other replicas of this Host. */
  readonly siblings: Pick<AcceptedList, 'changed'>
  /** The file of Hosts; null without one. */
  readonly file: SignersFile | null
}

/** The failures of this moment about the Hosts whose word about rows counts. */
export function hostFailures({ list, siblings, file }: HostFacts): FailureReport[] {
  const problem = file?.problem() ?? null
  return [
    ...(file === null || problem === null ? [] : [hostsFileFailure(file, problem)]),
    ...list.changed().map(changedHostFailure),
    ...siblings.changed().map(changedSiblingFailure),
  ]
}

function noSignerFailure(facts: TrustFacts): FailureReport {
  return {
    code: 'HOST_NO_SIGNER',
    message: `No signer is accepted, so no block is stored: ${whyNobody(facts)}.`,
    remedy:
      facts.mode === 'signers'
        ? 'Name the identities of Generators (identity in their /health) in HOST_TRUSTED_SIGNERS or in HOST_TRUSTED_SIGNERS_FILE.'
        : 'Name a Generator in BOOTSTRAP_PEERS, or the identities of Generators (identity in their /health) in HOST_TRUSTED_SIGNERS; behind another Host only the latter works.',
  }
}

function whyNobody({ mode, peers, proven }: TrustFacts): string {
  if (mode === 'signers') return 'HOST_TRUST is signers, and none is named'
  if (peers.length === 0) return 'BOOTSTRAP_PEERS is empty'
  const hosts = peers.filter((peer) => proven.get(peer)?.role === 'host')
  const others = peers.length - hosts.length
  const rest = 'has proved to be a Generator yet'
  if (hosts.length === 0) return `no bootstrap peer ${rest}`
  const named = `the bootstrap peer ${hosts[0]} is a Host${hosts.length > 1 ? ', like others' : ''}`
  return others === 0 ? named : `${named}, and none of the other ${others} ${rest}`
}

function changedFailure({ peer, pinned, found }: ChangedSigner): FailureReport {
  return {
    code: 'HOST_SIGNER_CHANGED',
    message: `The bootstrap peer ${peer} proves the identity ${found}; accepted of it is ${pinned}, and stays so.`,
    remedy:
      'Where that Generator was given a new key on purpose, take the peer off BOOTSTRAP_PEERS, let the Host see that, and name it again; else find out who has its keyring secret.',
  }
}

function changedHostFailure({ peer, pinned, found }: ChangedSigner): FailureReport {
  return {
    code: 'HOST_TRUSTED_HOST_CHANGED',
    message: `The bootstrap peer ${peer} proves to be the Host ${found}; accepted of it is ${pinned}, and stays so.`,
    remedy:
      'Where that Host was given a new key on purpose, take the peer off BOOTSTRAP_PEERS, let this Host see that, and name it again; else find out who has its keyring secret.',
  }
}

function changedSiblingFailure({ peer, pinned, found }: ChangedSigner): FailureReport {
  return {
    code: 'HOST_TRUSTED_HOST_CHANGED',
    message: `The sibling ${peer} proves to be the Host ${found}; accepted of it is ${pinned}, and stays so.`,
    remedy:
      'Where that replica was given a new key on purpose, take it out of the file of HOST_SIBLINGS_FILE, let this Host see that, and name it again; else find out who has its keyring secret.',
  }
}

function signersFileFailure(file: SignersFile, problem: string): FailureReport {
  const message = unusable('HOST_TRUSTED_SIGNERS_FILE', file, problem)
  return { code: 'HOST_SIGNERS_FILE_UNUSABLE', message, remedy: identityALine }
}

function hostsFileFailure(file: SignersFile, problem: string): FailureReport {
  const message = unusable('HOST_TRUSTED_HOSTS_FILE', file, problem)
  return { code: 'HOST_TRUSTED_HOSTS_FILE_UNUSABLE', message, remedy: identityALine }
}

const identityALine = 'Write one identity a line; a file is taken over as a whole or not at all.'

function unusable(setting: string, file: SignersFile, problem: string): string {
  const held = file.values().length
  const now = held === 0 ? 'nobody is accepted by it' : `its last good list of ${held} stays`
  const why = problem === 'ENOENT' ? 'there is no such file' : problem
  return `${setting} (${file.path}) cannot be used, ${why}; ${now}.`
}
