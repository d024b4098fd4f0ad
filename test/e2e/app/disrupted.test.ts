/**
 * An application among Hosts of which one lies, one withholds and one is restarted over and over, while the chain
 * reorganises and the application is killed: at the end it has what the chain has, and two Hosts signed each row.
 * `APP_KILLS=50 npm run test:app` kills it more often, `APP_SEED` plans the same again.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openApp } from '../../../src/app/app.ts'
import { openMining } from '../../support/chain/mining.ts'
import { pause } from '../../support/programs.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { startAppChild } from './support/app-child.ts'
import { assertSigned, assertTrue, shownTransfers, untilDone } from './support/checked-rows.ts'
import { falseAmount, isFalsified } from './support/falsified-rows.ts'
import { type FollowedHost, followOptions, startFleet } from './support/fleet.ts'
import { readTrueTransfers, type Transfer } from './support/true-transfers.ts'

const kills = Number(process.env['APP_KILLS'] ?? 10)
const seed = process.env['APP_SEED'] ?? randomBytes(4).toString('hex')
const pauseMs = 250
const upMs = 10_000
/** A kill comes at most this long after the application was started; some before it is open. */
const longestLifeMs = 10_000

test('rows equal the chain’s after lies, gaps, restarts, reorganisations and kills', async (t) => {
  t.diagnostic(`seed ${seed}, ${kills} kills`)
  const random = createSeededRandom(seed)
  const fleet = await startFleet(t, {
    seed,
    hosts: [
      { name: 'lying', preload: './lying-host.ts' },
      { name: 'withholding', preload: './withholding-host.ts' },
      { name: 'restarted' },
    ],
  })
  const { chain, token, folder } = fleet
  const options = followOptions(fleet)
  const [lying, , restarted] = fleet.hosts
  const mining = openMining(chain, createSeededRandom(`${seed} mining`), { pauseMs })
  mining.go()
  const restarts = restartAgainAndAgain(t, restarted)
  for (let kill = 0; kill < kills; kill++) {
    const app = startAppChild(options, join(folder, 'app.log'))
    await pause(random.int(longestLifeMs))
    await app.kill()
  }
  await mining.hold()
  const app = await openApp(options)
  t.after(() => app.close())
  const head = chain.head().number
  const { views } = await untilDone(app, head, { from: 0 })
  await restarts.end()
  assert.deepEqual(views[0]?.done, [{ from: 0, to: head }])
  const shown = await shownTransfers(app)
  const due = await readTrueTransfers(chain.anvil.url, token, { from: 0, to: head })
  assertTrue(shown, due)
  assertSigned(app, shown, {
    least: 2,
    mayHaveSigned: (host, height) => host !== lying?.identity || !isFalsified(height),
  })
  await assertLies(lying, due)
  const { reorganisations } = mining.figures
  t.diagnostic(
    `${head} blocks, ${shown.length} rows, ${reorganisations} reorganisations, ${restarts.count()} restarts`,
  )
  fleet.pass()
})

/** The Host that is to lie does so, at the heights where it is to. */
async function assertLies(host: FollowedHost | undefined, due: readonly Transfer[]): Promise<void> {
  const text = '{ Transfer { blockNumber amount } }'
  const told = await host?.program.query<{ Transfer: Transfer[] }>(text)
  const lies = due.map(({ blockNumber, amount }) => ({
    blockNumber,
    amount: isFalsified(blockNumber) ? falseAmount : amount,
  }))
  assert.deepEqual(told?.Transfer, lies)
}

interface Restarts {
  count(): number
  /** Resolves when it is up, and stays so. */
  end(): Promise<void>
}

function restartAgainAndAgain(t: TestContext, host: FollowedHost | undefined): Restarts {
  let [isOver, count] = [false, 0]
  const restart = async (): Promise<void> => {
    while (!isOver) {
      await pause(upMs)
      if (isOver) return
      await host?.program.stop()
      await host?.program.start()
      count += 1
    }
  }
  const running = restart()
  running.catch(() => undefined)
  const end = async (): Promise<void> => {
    isOver = true
    await running
  }
  t.after(end)
  return { count: () => count, end }
}
