/** Several Hosts, some of them false: what an application believes, and whom it follows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostFrame } from '../../src/follow/host-frames.ts'
import { createSigner } from '../../src/identity/signature.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { captureLog } from '../support/captured-log.ts'
import { testNetwork, until } from '../support/p2p-room.ts'
import { createMadeChain, lied, type MadeBlock, madeRows } from './support/made-chain.ts'
import { madeExcerpt, openMadeHost } from './support/made-host.ts'
import { openTestApp, temporaryFolder, topOf, untilState } from './support/test-app.ts'

const everyTo = '{ Payment { to } }'
type To = { Payment: { to: string }[] }

test('rows are there once as many Hosts signed them as it asks for, and not before', async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  let isSigning = false
  const first = await openMadeHost(t, { chain })
  const second = await openMadeHost(t, { chain, signs: ({ number }) => isSigning || number < 3 })
  const app = await openTestApp(t, { hosts: [first, second], minimumHosts: 2 })
  await untilState(app, (state) => topOf(state) === 2)
  isSigning = true
  second.drop()
  await untilState(app, (state) => topOf(state) === 4)
  const { data } = await app.query<{ Payment: { _hosts: number }[] }, object>(
    '{ Payment { _hosts } }',
  )
  assert.deepEqual(
    data.Payment.map(({ _hosts }) => _hosts),
    Array.from({ length: 10 }, () => 2),
  )
})

test('of three Hosts one that lies about rows is not believed, whether it feeds or votes', async (t) => {
  const chain = createMadeChain()
  chain.grow(30)
  const liar = await openMadeHost(t, { chain, alter: lied })
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  for (const hosts of [
    [liar, ...honest],
    [...honest, liar],
  ]) {
    const app = await openTestApp(t, { hosts, minimumHosts: 2 })
    await untilState(app, (state) => topOf(state) === 29)
    const { data } = await app.query<To, object>(everyTo)
    assert.ok(data.Payment.every(({ to }) => to === '0'))
    await app.close()
  }
})

test('a Host that withholds blocks gives its place to one that sends them', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const withholding = await openMadeHost(t, {
    chain,
    alter: (block) => (block.number < 5 ? block : 'nothing'),
  })
  const other = await openMadeHost(t, { chain })
  const app = await openTestApp(t, {
    hosts: [withholding, other],
    patience: { checkMs: 50, stallMs: 300 },
  })
  await untilState(app, (state) => topOf(state) === 9)
  assert.equal(app.state().views[0]?.rows, 20)
})

test('a height that the Host which feeds leaves out comes from another one', async (t) => {
  const chain = createMadeChain()
  chain.grow(6)
  const leaving = await openMadeHost(t, {
    chain,
    alter: (block) => (block.number === 7 ? 'nothing' : block),
  })
  let isThere = false
  const other = await openMadeHost(t, {
    chain,
    replace: (frame) => {
      if (!isThere) throw new Error('it is not there yet')
      return [frame]
    },
  })
  const app = await openTestApp(t, { hosts: [leaving, other] })
  await untilState(app, (state) => topOf(state) === 5)
  isThere = true
  await untilState(app, ({ hosts }) => hosts.every(({ role }) => role !== 'away'))
  chain.grow(10)
  const { views } = await untilState(app, (state) => topOf(state) === 15)
  assert.deepEqual(views[0]?.done, [{ from: 0, to: 15 }])
})

test('a Host that leaves out the first blocks does not decide where a View begins', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const leaving = await openMadeHost(t, {
    chain,
    alter: (block) => (block.number < 5 ? 'nothing' : block),
  })
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const app = await openTestApp(t, { hosts: [leaving, ...honest], minimumHosts: 2 })
  const { views } = await untilState(app, (state) => topOf(state) === 9)
  assert.deepEqual(views[0]?.done, [{ from: 0, to: 9 }])
})

test('of Hosts that begin at different heights the one that begins lowest feeds first', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const hosts = [
    await openMadeHost(t, { chain, tail: 6 }),
    await openMadeHost(t, { chain, tail: 2 }),
  ]
  const app = await openTestApp(t, { hosts })
  const { views } = await untilState(app, (state) => topOf(state) === 9)
  assert.deepEqual(views[0]?.done, [{ from: 2, to: 9 }])
})

test('a Host that is slow gives its place to a faster one, though it goes on without a pause', async (t) => {
  const chain = createMadeChain()
  chain.grow(500)
  const slow = await openMadeHost(t, { chain, blockMs: 200 })
  let isThere = false
  const fast = await openMadeHost(t, {
    chain,
    replace: (frame) => {
      if (!isThere) throw new Error('it is not there yet')
      return [frame]
    },
  })
  const app = await openTestApp(t, { hosts: [slow, fast], patience: { checkMs: 100 } })
  await untilState(app, (state) => topOf(state) > 5)
  isThere = true
  await untilState(app, (state) => topOf(state) === 499)
  assert.equal(app.state().hosts[0]?.role, 'votes')
})

test('a Host that votes is soon followed again, however often it went away', {
  timeout: 40_000,
}, async (t) => {
  const chain = createMadeChain()
  const hosts = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const app = await openTestApp(t, { hosts, minimumHosts: 2 })
  await untilState(app, (state) => state.hosts.every(({ role }) => role !== 'away'))
  const voting = hosts[app.state().hosts.findIndex(({ role }) => role === 'votes')]
  for (let round = 0; round < 9; round++) {
    chain.grow(1)
    await untilState(app, (state) => topOf(state) === round)
    voting?.drop()
  }
})

test('what a Host does not say of a block on one stream it may say on the next', async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  const asked = new Set<number>()
  const forgetful = await openMadeHost(t, {
    chain,
    signs: ({ number }) => {
      const isAgain = asked.has(number)
      asked.add(number)
      return isAgain || number !== 3
    },
  })
  const app = await openTestApp(t, {
    hosts: [forgetful, await openMadeHost(t, { chain })],
    minimumHosts: 2,
  })
  const { views } = await untilState(app, (state) => topOf(state) === 4)
  assert.deepEqual(views[0]?.done, [{ from: 0, to: 4 }])
})

test('a Host that goes away is replaced without a gap and without a row twice', async (t) => {
  const chain = createMadeChain()
  chain.grow(50)
  const hosts = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const app = await openTestApp(t, { hosts })
  for (let round = 0; round < 6; round++) {
    const feeding = app.state().hosts.findIndex(({ role }) => role === 'feeds')
    hosts[feeding]?.drop()
    chain.grow(5)
  }
  const { views } = await untilState(app, (state) => topOf(state) === 79)
  assert.deepEqual(views[0]?.done, [{ from: 0, to: 79 }])
  assert.equal(views[0]?.rows, 160)
})

test('a Host whose signature is another one’s is left, and costs nobody else anything', async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  const forger = await openMadeHost(t, {
    chain,
    replace: (frame) => {
      if (frame.kind !== 'statement') return [frame]
      const excerpt = Uint8Array.from(frame.excerpt)
      excerpt[excerpt.length - 1] = (excerpt.at(-1) ?? 0) ^ 1
      return [{ ...frame, excerpt }]
    },
  })
  const honest = await openMadeHost(t, { chain })
  const app = await openTestApp(t, { hosts: [forger, honest] })
  await untilState(app, (state) => topOf(state) === 4)
  assert.ok(app.state().hosts.some(({ peer, error }) => peer === forger.room.id && error !== null))
})

test('an SDL that a single Host makes up is not believed where two have to agree', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const liar = await openMadeHost(t, { chain, sdl: 'type Payment { from: String }' })
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const app = await openTestApp(t, { hosts: [liar, ...honest], minimumHosts: 2 })
  await untilState(app, (state) => topOf(state) === 2)
  const { data } = await app.query<To, object>(everyTo)
  assert.equal(data.Payment.length, 6)
})

test('rubbish of every kind ends a stream and changes nothing that is stored', async (t) => {
  const chain = createMadeChain()
  chain.grow(4)
  const honest = await openMadeHost(t, { chain })
  const rubbish: NonNullable<Parameters<typeof openMadeHost>[1]['replace']>[] = [
    () => [Buffer.from('this is no frame')],
    (frame) =>
      frame.kind === 'welcome' ? [{ ...frame, proof: Buffer.from('no proof') }] : [frame],
    (frame) => (frame.kind === 'welcome' ? [{ ...frame, views: [] }] : [frame]),
    (frame) => (frame.kind === 'rows' ? [{ ...frame, part: 3 }] : [frame]),
    (frame) => (frame.kind === 'rows' ? [{ ...frame, last: false }] : [frame]),
    (frame) => (frame.kind === 'rows' ? [{ ...frame, bytes: Buffer.from('no rows') }] : [frame]),
    (frame) => (frame.kind === 'rows' ? [{ ...frame, count: 1_000_000 }] : [frame]),
    (frame) => (frame.kind === 'rows' ? [{ ...frame, view: `0x${'99'.repeat(32)}` }] : [frame]),
    (frame) => (frame.kind === 'rows' ? [{ ...frame, parent: `0x${'99'.repeat(32)}` }] : [frame]),
    (frame) =>
      frame.kind === 'statement' ? [{ kind: 'statement', excerpt: Buffer.of(1) }] : [frame],
    (frame) =>
      frame.kind === 'statement' ? [{ kind: 'votes', excerpts: [Buffer.of(1)] }] : [frame],
  ]
  for (const replace of rubbish) {
    const hostile = await openMadeHost(t, { chain, replace })
    const app = await openTestApp(t, { hosts: [hostile, honest] })
    const { views } = await untilState(app, (state) => topOf(state) === 3)
    assert.equal(views[0]?.rows, 8, `${replace}`)
    await app.close()
  }
})

test('a Host that names another block 0 than the others is left, and ends nothing', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const genesis = (byte: string) => (frame: HostFrame) =>
    frame.kind === 'welcome' ? [{ ...frame, genesis: `0x${byte.repeat(32)}` }] : [frame]
  const liar = await openMadeHost(t, { chain, replace: genesis('66') })
  const honest = [
    await openMadeHost(t, { chain, replace: genesis('11') }),
    await openMadeHost(t, { chain, replace: genesis('11') }),
  ]
  const app = await openTestApp(t, { hosts: [liar, ...honest], minimumHosts: 2 })
  await untilState(app, (state) => topOf(state) === 2)
  liar.drop()
  await untilState(app, ({ hosts }) =>
    hosts.some(({ peer, error }) => peer === liar.room.id && /another chain/.test(error ?? '')),
  )
  chain.grow(2)
  await untilState(app, (state) => topOf(state) === 4)
})

test('a Host that feeds a branch of its own gives its place to those that others sign', async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  const own = createMadeChain({ name: 'made up' })
  own.grow(50)
  const liar = await openMadeHost(t, { chain: own })
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const app = await openTestApp(t, {
    hosts: [liar, ...honest],
    minimumHosts: 2,
    patience: { checkMs: 50, stallMs: 300 },
  })
  await untilState(app, (state) => topOf(state) === 4)
  const { data } = await app.query<To, object>(everyTo)
  assert.equal(data.Payment.length, 10)
})

test('votes that come while rows are being stored are counted like those before', async (t) => {
  const chain = createMadeChain()
  const hosts = await Promise.all([1, 2, 3].map(() => openMadeHost(t, { chain })))
  const app = await openTestApp(t, { hosts })
  for (let block = 0; block < 20; block++) chain.grow(1)
  await untilState(app, (state) => topOf(state) === 19)
  const everyVote = async (): Promise<boolean> => {
    const { data } = await app.query<{ Payment: { _hosts: number }[] }, object>(
      '{ Payment { _hosts } }',
    )
    return data.Payment.length === 40 && data.Payment.every(({ _hosts }) => _hosts === 3)
  }
  await until(everyVote)
})

test('a block at which the View failed at every Host is passed over, and holds up no other', async (t) => {
  const chain = createMadeChain()
  chain.grow(6)
  const alter = (block: MadeBlock): MadeBlock =>
    block.number === 2 ? { ...block, rows: null } : block
  const hosts = [await openMadeHost(t, { chain, alter }), await openMadeHost(t, { chain, alter })]
  const app = await openTestApp(t, {
    hosts,
    minimumHosts: 2,
    patience: { checkMs: 50, failedMs: 200 },
  })
  const { views } = await untilState(app, (state) => topOf(state) === 5)
  assert.deepEqual([views[0]?.rows, views[0]?.blocksFailed], [10, 1])
})

test('a Host that says alone that the View failed is not believed', async (t) => {
  const chain = createMadeChain()
  chain.grow(6)
  const liar = await openMadeHost(t, {
    chain,
    alter: (block) => (block.number > 1 ? { ...block, rows: null } : block),
  })
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const app = await openTestApp(t, { hosts: [liar, ...honest], minimumHosts: 2 })
  const { views } = await untilState(app, (state) => topOf(state) === 5)
  assert.deepEqual([views[0]?.rows, views[0]?.blocksFailed], [12, 0])
})

test('a head that one Host makes up keeps no application from being live', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const liar = await openMadeHost(t, {
    chain,
    replace: (frame) =>
      frame.kind === 'welcome'
        ? [{ ...frame, views: frame.views.map((view) => ({ ...view, head: 1_000_000_000 })) }]
        : [frame],
  })
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const app = await openTestApp(t, { hosts: [liar, ...honest], minimumHosts: 2 })
  await app.untilLive(AbortSignal.timeout(60_000))
  assert.equal(app.state().views[0]?.head, 2)
})

test('an application that waits for further Hosts closes at once', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const hosts = [
    await openMadeHost(t, { chain }),
    await openMadeHost(t, { chain, signs: () => false }),
  ]
  const app = await openTestApp(t, { hosts, minimumHosts: 2 })
  await untilState(app, ({ views: [view] }) => view?.blocksPending === 3)
  await app.close()
})

test('what a Host signs of one block without end is kept four times', async (t) => {
  const chain = createMadeChain()
  chain.grow(2)
  const signer = createSigner({ type: 'Ed25519', privateKey: new Uint8Array(32).fill(9) })
  const [first] = chain.blocks()
  assert.ok(first)
  const liar = await openMadeHost(t, {
    chain,
    signer,
    replace: (frame) => [
      frame,
      ...(frame.kind === 'statement'
        ? Array.from({ length: 50 }, (_, index): HostFrame => {
            const rows = madeRows(`lie ${index}`, 0, 1)
            return { kind: 'statement', excerpt: madeExcerpt({ ...first, rows }, signer) }
          })
        : []),
    ],
  })
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  const path = await temporaryFolder(t)
  const app = await openTestApp(t, { hosts: [liar, ...honest], minimumHosts: 2, path })
  await untilState(app, (state) => topOf(state) === 1)
  chain.grow(3)
  await untilState(app, (state) => topOf(state) === 4)
  await app.close()
  const options = { path, network: testNetwork, program: 'app', retainBlocks: null } as const
  const store = await openWriter(options, { log: captureLog().log })
  const kept = store.reader.read((snapshot) => snapshot.statementExcerpts(0))
  await store.close()
  const own = kept.filter(({ signatureIdentity }) => signatureIdentity === signer.identity)
  assert.ok(own.length <= 4, `${own.length} are kept`)
})
