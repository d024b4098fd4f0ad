/**
 * A program that takes statements of two Hosts about one block in, each with more Views than the one before, for tests
 * that kill it: `<path>` goes on where it was, and says `admitted` with the number of each step that is stored.
 */
import { writeSync } from 'node:fs'
import process from 'node:process'
import { pino } from 'pino'
import { createStatementAdmission } from '../../../src/host/apply/statement-admission.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { encodeRowStatement } from '../../../src/row-votes/row-statement.ts'
import { encodeStatementsAnswer } from '../../../src/row-votes/row-vote-exchange.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { signedStatement } from '../../support/signed-statements.ts'

export const admittedHosts: readonly DigestSigner[] = [
  testSigner('alice'),
  testSigner('bob', 'Ed25519'),
]
/** More leaves than this a statement cannot have. */
export const lastStep = 330
const viewsAStep = 3

/** Names of the Views of a step. */
export function viewsOf(step: number): string[] {
  return Array.from({ length: step * viewsAStep }, (_, index) => `View ${index}`)
}

async function admit(path: string): Promise<void> {
  const log = pino({ enabled: false })
  const network = opaqueNetwork
  const store = await openWriter({ path, network, retainBlocks: null }, { log })
  const block = opaqueBlock(1)
  const isNew = store.reader.read((snapshot) => snapshot.range() === null)
  if (isNew) await store.putSealedBlock(block)
  const admission = createStatementAdmission({ network }, { store, log })
  admission.setAccepted(admittedHosts.map(({ identity }) => identity))
  const before = store.reader.read((snapshot) =>
    snapshot.rowStatements(1).map(({ leaves }) => leaves.length / viewsAStep),
  )
  const first = Math.max(1, Math.min(...before, lastStep))
  for (let step = before.length < 2 ? 1 : first; step <= lastStep; step++) {
    const statements = admittedHosts.map((signer) =>
      encodeRowStatement(signedStatement(1, block.header.hash, { signer, views: viewsOf(step) })),
    )
    await admission.receive(encodeStatementsAnswer({ statements, next: null }))
    writeSync(1, `admitted ${step}\n`)
  }
  setInterval(() => undefined, 1_000)
}

if (process.argv[1]?.endsWith('admission-program.ts')) await admit(process.argv[2] ?? '')
