/** Real identities, as a backup has them. */

import type {
  IdentityBackup,
  ReplicaBackup,
} from '../../../operator/plugin/identity/backup-file.ts'
import { keyringFingerprint } from '../../../operator/resources/secrets/keyring-secret.ts'
import { encryptKey } from '../../../src/identity/key-file.ts'
import { createSigner } from '../../../src/identity/signature.ts'
import { peerID } from '../../support/resources/operator-cases.ts'

/** Under which the first two replicas of a Host were seen. */
const peerIDs = [peerID, '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'] as const

/** An identity of a Host: its key in the keyring, and the key file that opens with it. */
async function replicaOf(ordinal: number, seed: number): Promise<ReplicaBackup> {
  const key = Buffer.alloc(32, seed).toString('base64url')
  const signerKey = { type: 'ES256K', privateKey: new Uint8Array(32).fill(seed) } as const
  return {
    ordinal,
    key,
    keyringFingerprint: await keyringFingerprint(key),
    keyFile: await encryptKey(signerKey, 'host', key),
    identity: createSigner(signerKey).identity,
    peerID: peerIDs[ordinal] ?? null,
    keysClaimUID: `claim-${ordinal}`,
  }
}

/** Of Host mainnet in namespace apps, whose replicas have identities that follow from these seeds. */
export async function backupOf(...seeds: readonly number[]): Promise<IdentityBackup> {
  const all = seeds.length === 0 ? [1] : seeds
  const replicas: ReplicaBackup[] = []
  for (const [ordinal, seed] of all.entries()) replicas.push(await replicaOf(ordinal, seed))
  return {
    kind: 'Host',
    name: 'mainnet',
    namespace: 'apps',
    network: 'Ethereum__Mainnet',
    keyring: { secret: 'mainnet-host-keyring', isOwn: false },
    storage: { size: '1Gi', storageClassName: 'fast' },
    image: 'registry.example.org/host:1',
    createdAt: '2026-01-01T00:00:00.000Z',
    replicas,
  }
}

/** Another identity of the same Host. */
export const otherBackup: IdentityBackup = await backupOf(9)
