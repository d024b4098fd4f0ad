/** The writer's part of a Host over a real store, with a clock that a test can move on. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Applier, createApplier } from '../../../src/host/apply/applier.ts'
import type { ChainOptions } from '../../../src/host/apply/chain-state.ts'
import type { Outcome, Stored } from '../../../src/host/apply/outcome.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { captureLog } from '../../support/captured-log.ts'
import type { ChainBlock } from '../../support/chain/block-factory.ts'
import {
  sealBlock,
  type TestSealedBlock,
  testNetwork,
  testSigner,
} from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { testDirectory } from '../../support/test-store.ts'

export const alice: DigestSigner = testSigner('alice')
export const bob: DigestSigner = testSigner('bob', 'Ed25519')
export const carol: DigestSigner = testSigner('carol', 'Ed25519')
export const mallory: DigestSigner = testSigner('mallory')

export interface TestApplier {
  readonly store: StoreWriter
  readonly applier: Applier
  /** What was written, in order. */
  readonly writes: readonly Stored[]
  /** Receives a message like one that came by gossip; all that followed from it is done then. */
  receive(block: TestSealedBlock | Uint8Array): Promise<Outcome>
  /** Hears that these signers stand on a block. */
  stand(block: { readonly number: number; readonly hash: string }, ...who: DigestSigner[]): void
  /** Lets this many milliseconds pass; all that followed from it is done then. */
  pass(ms: number): Promise<void>
}

interface Setup extends Partial<ChainOptions> {
  readonly accepted?: readonly DigestSigner[]
  readonly servedFrom?: number | null
}

/** An applier of a Host whose peers serve blocks from 1 on; Alice is its only signer. */
export async function openApplier(t: TestContext, setup: Setup = {}): Promise<TestApplier> {
  const { retainBlocks = 1000, accepted = [alice], servedFrom = 1, ...more } = setup
  const options = { path: testDirectory(t), network: testNetwork, retainBlocks }
  const { log } = captureLog()
  const store = await openWriter(options, { log })
  const writes: Stored[] = []
  // Whole milliseconds: sums of others are not exact, and limits are.
  let clockMs = 1_000_000
  let sequence = 0
  const applier = createApplier(
    { network: testNetwork, retainBlocks, maxRawBytes: 1 << 26, ...more },
    {
      store,
      log,
      nowMs: () => clockMs,
      onStored: (stored) => writes.push(stored),
      onFailure: (error) => assert.fail(String(error)),
    },
  )
  const identities = accepted.map(({ identity }) => identity)
  applier.setAccepted({ kind: 'listed', identities, awaited: 0 })
  applier.setServedFrom(servedFrom)
  t.after(async () => {
    await applier.close()
    await store.close()
  })
  /** The applier goes on in later turns of the event loop, for as long as each of them writes something. */
  const settle = async (): Promise<void> => {
    const before = writes.length
    await setImmediate()
    await applier.drain()
    await setImmediate()
    if (writes.length > before) await settle()
  }
  return {
    store,
    applier,
    writes,
    receive: async (block) => {
      const bytes = block instanceof Uint8Array ? block : block.bytes
      const { outcome } = await applier.receive(Uint8Array.from(bytes), true)
      await settle()
      return outcome
    },
    stand: ({ number, hash }, ...who) => {
      for (const signer of who) {
        sequence += 1
        const head = { number, hash, sequence, network: testNetwork }
        assert.equal(applier.receiveHead(headMessage(signer, head)).kind, 'newer')
      }
    },
    pass: async (ms) => {
      clockMs += ms
      applier.tick()
      await settle()
    },
  }
}

/** Codes of what it says at /health, in its order. */
export const codesOf = ({ applier }: TestApplier): (string | undefined)[] =>
  applier.state().failures.map(({ code }) => code)

/** The failure of this code, message and remedy, which is said once and explained in the docs. */
export function explainedFailure({ applier }: TestApplier, code: string): string {
  const failures = applier.state().failures.filter((failure) => failure.code === code)
  assert.equal(failures.length, 1, `${code} is said once`)
  const failure = at(failures, 0)
  assertExplained(failure)
  return `${failure.message} ${failure.remedy}`
}

/** The blocks as a Generator sends them. */
export const seal = (
  chain: readonly ChainBlock[],
  signer: DigestSigner = alice,
): TestSealedBlock[] => chain.map((block) => sealBlock(block, signer))
/** The blocks as `storedChain` returns them. */
export const expected = (chain: readonly ChainBlock[]): [number, string][] =>
  chain.map(({ number, hash }) => [number, hash])

export function at<T>(list: readonly T[], index: number): T {
  const item = list.at(index)
  assert.ok(item !== undefined)
  return item
}

export const ruleOf = (outcome: Outcome): string =>
  outcome.kind === 'breach' ? outcome.rule : 'none'
export const signersOf = (store: StoreWriter, height: number): string[] =>
  store.reader.read((snapshot) => snapshot.seals(height).map((own) => own.signatureIdentity)).sort()
