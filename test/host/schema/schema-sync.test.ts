/** How a Host keeps its schema in step with its Generator's, and what it says when it cannot. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Logger, pino } from 'pino'
import { Registry } from 'prom-client'
import { parseSchemaFields } from '../../../src/host/schema/schema-diff.ts'
import {
  openSchemaSync,
  type SchemaSync,
  type SchemaSyncOptions,
} from '../../../src/host/schema/schema-sync.ts'
import { schemaSdl } from '../../../src/primitives/sdl.ts'
import { metricValue } from '../../support/metric-value.ts'
import { testDirectory } from '../../support/test-store.ts'

const network = 'Local__Devnet'
const answer = (schema: string, name = network): string => JSON.stringify({ network: name, schema })

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Course {
  readonly sync: SchemaSync
  readonly lines: readonly {
    level: number
    msg: string
    code?: string
    cause?: string
    remedy?: string
  }[]
  readonly registry: Registry
  /** Resolves with the next log line. */
  nextLine(): Promise<void>
}

interface CourseOptions extends Omit<SchemaSyncOptions, 'source'> {
  readonly token?: string
  /** At the end of the URL. */
  readonly query?: string
}

/** Opens a sync against a real HTTP server, runs `check`, closes both. */
async function withGenerator(
  handler: Handler,
  check: (course: Course) => Promise<void> | void,
  { token, query = '', ...options }: CourseOptions = {},
): Promise<void> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/${query}`
  const { log, lines, nextLine } = listeningLog()
  const registry = new Registry()
  const sync = await openSchemaSync(
    { source: { url, token: token ?? null, timeoutMs: 500 }, retryMs: 10, ...options },
    { log, registry, signal: new AbortController().signal },
  )
  try {
    await check({ sync, lines, registry, nextLine })
  } finally {
    await sync.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

function listeningLog(): { log: Logger } & Pick<Course, 'lines' | 'nextLine'> {
  const lines: { level: number; msg: string }[] = []
  let wake = Promise.withResolvers<void>()
  const log = pino(
    { level: 'info' },
    {
      write: (line) => {
        lines.push(JSON.parse(line))
        wake.resolve()
        wake = Promise.withResolvers<void>()
      },
    },
  )
  return { log, lines, nextLine: () => wake.promise }
}

describe('a Generator that answers', () => {
  test('is asked at /api/v1/schema with the token as a Bearer credential', async () => {
    const seen: unknown[] = []
    const handler: Handler = ({ method, url, headers }, response) => {
      seen.push([method, url, headers.authorization, headers.accept])
      response.end(answer(schemaSdl(network)))
    }
    await withGenerator(handler, () => {}, { token: 'key-1' })
    assert.deepEqual(seen, [['GET', '/api/v1/schema', 'Bearer key-1', 'application/json']])
  })

  test('is asked at that path whether the URL ends with it, with slashes, or with neither', async () => {
    const seen: (string | undefined)[] = []
    const handler: Handler = ({ url }, response) => {
      seen.push(url)
      response.end(answer(schemaSdl(network)))
    }
    for (const query of ['', '//', 'api/v1/schema', 'api/v1/schema/'])
      await withGenerator(handler, () => {}, { query })
    assert.deepEqual(seen, Array(4).fill('/api/v1/schema'))
  })

  test('decides the prefix where none is configured', async () => {
    const handler: Handler = (_request, response) => void response.end(answer(schemaSdl(network)))
    await withGenerator(handler, ({ sync }) => {
      assert.equal(sync.fetchedNetwork(), network)
      assert.deepEqual(sync.report(), { state: 'embedded', differing: [] })
      sync.use(network)
      assert.deepEqual(sync.report(), { state: 'current', differing: [] })
    })
  })

  test('has other fields: each is named in the report, the log and a metric', async () => {
    const other = schemaSdl(network)
      .replace('  number: Int @index\n', '  number: String\n')
      .replace('  miner: String\n', '')
      .replace('  gasLimit: String\n', '  gasLimit: String\n  withdrawals: [String]\n')
    const handler: Handler = (_request, response) => void response.end(answer(other))
    await withGenerator(handler, async ({ sync, lines, registry }) => {
      sync.use(network)
      assert.deepEqual(sync.report(), {
        state: 'different',
        differing: [
          'Block.miner: missing at the Generator',
          'Block.number: Int here, String at the Generator',
          'Block.withdrawals: only at the Generator',
        ],
      })
      assert.equal(lines.at(-1)?.msg, 'schema differs from the Generator’s')
      const metric = await registry.getSingleMetricAsString('viewmesh_host_schema_differing_fields')
      assert.match(metric, /viewmesh_host_schema_differing_fields 3/)
    })
  })

  test('has a few fields only: the first 50 that differ are named, and all of them counted', async () => {
    const handler: Handler = (_request, response) =>
      void response.end(answer(`type ${network}__Block { number: Int }`))
    await withGenerator(handler, async ({ sync, registry }) => {
      sync.use(network)
      const { differing } = sync.report()
      const all = parseSchemaFields(schemaSdl(network), network).size - 1
      assert.ok(all > 50)
      assert.deepEqual([differing.length, new Set(differing).size], [50, 50])
      assert.equal(await metricValue(registry, 'viewmesh_host_schema_differing_fields'), all)
    })
  })

  test('says the same again: that is said once', async () => {
    let requests = 0
    const again = Promise.withResolvers<void>()
    const handler: Handler = (_request, response) => {
      requests += 1
      if (requests === 4) again.resolve()
      response.end(answer(schemaSdl(network)))
    }
    const course = async ({ sync, lines }: Course): Promise<void> => {
      sync.use(network)
      await again.promise
      assert.deepEqual(
        lines.map(({ msg }) => msg),
        ['schema equals the Generator’s'],
      )
    }
    await withGenerator(handler, course, { recheckMs: 5 })
  })

  test('is of another network than the configured one: the report says so', async () => {
    const handler: Handler = (_request, response) =>
      void response.end(answer(schemaSdl('Ethereum__Sepolia'), 'Ethereum__Sepolia'))
    await withGenerator(handler, ({ sync }) => {
      sync.use(network)
      assert.deepEqual(sync.report(), {
        state: 'different',
        differing: ['network: Local__Devnet here, Ethereum__Sepolia at the Generator'],
      })
    })
  })
})

describe('a Generator that does not return its schema', () => {
  const refusing = (status: number): Handler => {
    return (_request, response) => void response.writeHead(status).end('{}')
  }
  const cases: readonly [what: string, handler: Handler, code: string, remedy: RegExp][] = [
    ['401, no key sent', refusing(401), 'HOST_SCHEMA_UNAUTHORIZED', /wants a token.*_AUTH_TOKEN/],
    ['403, wrong key', refusing(403), 'HOST_SCHEMA_UNAUTHORIZED', /not accept.*_AUTH_TOKEN/],
    ['503, no keys configured', refusing(503), 'HOST_SCHEMA_UNAUTHORIZED', /SCHEMA_API_KEYS/],
    ['404, not a Generator', refusing(404), 'HOST_SCHEMA_UNREADABLE', /health port/],
    ['silence', () => {}, 'HOST_SCHEMA_UNREACHABLE', /can be reached/],
    [
      'a cut connection',
      (request) => request.socket.destroy(),
      'HOST_SCHEMA_UNREACHABLE',
      /can be reached/,
    ],
    [
      'more than 64 KiB',
      (_request, response) => void response.end(answer(`# ${'x'.repeat(65_536)}`)),
      'HOST_SCHEMA_UNREADABLE',
      /more than 65536 bytes.*health port/,
    ],
    [
      'a connection that is cut within the answer',
      (request, response) => response.write('{"network":', () => request.socket.destroy()),
      'HOST_SCHEMA_UNREACHABLE',
      /can be reached/,
    ],
    [
      'no JSON',
      (_request, response) => void response.end('<html>'),
      'HOST_SCHEMA_UNREADABLE',
      /health port/,
    ],
    [
      'null',
      (_request, response) => void response.end('null'),
      'HOST_SCHEMA_UNREADABLE',
      /health port/,
    ],
    [
      'a schema without blocks',
      (_request, response) => void response.end(answer('type A { b: Int }')),
      'HOST_SCHEMA_UNREADABLE',
      /health port/,
    ],
    [
      'a network that is none',
      (_request, response) => void response.end(answer('type Block { number: Int }', 'Local')),
      'HOST_SCHEMA_UNREADABLE',
      /health port/,
    ],
  ]
  /** Service page: "an embedded copy of the schema, used when the Generator's schema cannot be fetched". */
  for (const [what, handler, code, remedy] of cases) {
    test(`leaves the embedded schema, and one warning with cause and remedy: ${what}`, async () => {
      await withGenerator(handler, ({ sync, lines }) => {
        sync.use(network)
        assert.equal(sync.fetchedNetwork(), null)
        assert.equal(sync.report().state, 'embedded')
        assert.deepEqual(
          lines.map((line) => [line.level, line.msg, line.code]),
          [[40, 'schema fetch failed, using embedded schema', code]],
        )
        assert.match(`${lines[0]?.cause} ${lines[0]?.remedy}`, remedy)
      })
    })
  }

  test('is asked again until it answers, without another warning', async () => {
    let requests = 0
    const handler: Handler = (_request, response) => {
      requests += 1
      if (requests < 4) response.writeHead(401).end()
      else response.end(answer(schemaSdl(network)))
    }
    await withGenerator(handler, async ({ sync, lines, registry, nextLine }) => {
      sync.use(network)
      if (lines.length < 2) await nextLine()
      assert.deepEqual(
        lines.map(({ msg }) => msg),
        ['schema fetch failed, using embedded schema', 'schema equals the Generator’s'],
      )
      assert.equal(sync.report().state, 'current')
      const fetches = (result: string) =>
        metricValue(registry, 'viewmesh_host_schema_fetches_total', { result })
      assert.equal(await fetches('HOST_SCHEMA_UNAUTHORIZED'), 3)
      assert.equal(await fetches('fetched'), 1)
    })
  })

  test('gets no token that no request can carry, which is reported and not shown', async () => {
    await withGenerator(
      () => assert.fail('it was asked'),
      ({ sync, lines }) => {
        assert.match(
          `${sync.failure()?.message}`,
          /^the token for the Generator at http:\/\/127\.0\.0\.1:\d+\/\S* has a line end/,
        )
        assert.doesNotMatch(JSON.stringify(lines), /cret/)
      },
      { token: 'se\ncret' },
    )
  })

  test('refuses the token: that is reported until one read again from its file is accepted', async (t) => {
    const tokenFile = join(testDirectory(t), 'token')
    writeFileSync(tokenFile, 'old\n')
    const handler: Handler = ({ headers }, response) => {
      if (headers.authorization !== 'Bearer new') response.writeHead(403).end()
      else response.end(answer(schemaSdl(network)))
    }
    const options = { token: 'old', tokenFile, query: '?key=marked' }
    await withGenerator(
      handler,
      async ({ sync, nextLine }) => {
        sync.use(network)
        const refusal = sync.failure()
        assert.equal(refusal?.code, 'HOST_SCHEMA_UNAUTHORIZED')
        assert.match(
          refusal.message,
          /^the Generator at http:\/\/127\.0\.0\.1:\d+\/ does not accept the token$/,
        )
        assert.match(refusal.remedy ?? '', /GENERATOR_SCHEMA_AUTH_TOKEN/)
        writeFileSync(tokenFile, 'new\n')
        await nextLine()
        assert.equal(sync.failure(), null)
        assert.equal(sync.report().state, 'current')
      },
      options,
    )
  })

  test('does not answer any more: that is a failure once it has lasted a minute', async (t) => {
    let nowMs = 100_000
    t.mock.method(performance, 'now', () => nowMs)
    let requests = 0
    const handler: Handler = (request, response) => {
      requests += 1
      if (requests === 1) response.writeHead(401).end()
      else request.socket.destroy()
    }
    await withGenerator(handler, async ({ sync, nextLine }) => {
      assert.equal(sync.failure()?.code, 'HOST_SCHEMA_UNAUTHORIZED')
      nowMs += 59_999
      await nextLine()
      assert.equal(sync.failure(), null)
      nowMs += 1
      assert.equal(sync.failure()?.code, 'HOST_SCHEMA_UNREACHABLE')
    })
  })

  test('takes the token back, or changes its schema, while the Host runs: that is noticed', async () => {
    const answers = [schemaSdl(network), null, schemaSdl(network).replace('  miner: String\n', '')]
    const handler: Handler = (_request, response) => {
      const schema = answers.length > 1 ? answers.shift() : answers[0]
      if (schema) response.end(answer(schema))
      else response.writeHead(401).end()
    }
    const course = async ({ sync, lines, nextLine }: Course): Promise<void> => {
      sync.use(network)
      await nextLine()
      assert.deepEqual([sync.report().state, sync.failure()?.facts['status']], ['current', 401])
      await nextLine()
      assert.deepEqual([sync.report().state, sync.failure()], ['different', null])
      assert.deepEqual(
        lines.map(({ msg }) => msg),
        [
          'schema equals the Generator’s',
          'schema fetch failed, using embedded schema',
          'schema differs from the Generator’s',
        ],
      )
    }
    await withGenerator(handler, course, { recheckMs: 10 })
  })

  test('is not waited for by a Host that stops, nor blamed for that', async () => {
    const asked = Promise.withResolvers<void>()
    let requests = 0
    const handler: Handler = (_request, response) => {
      requests += 1
      if (requests === 1) response.writeHead(401).end()
      else asked.resolve()
    }
    await withGenerator(handler, async ({ sync, lines }) => {
      await asked.promise
      const waiting = assert.rejects(sync.awaitNetwork(), { name: 'AbortError' })
      await sync.close()
      await waiting
      assert.deepEqual([lines.length, sync.failure()?.code], [1, 'HOST_SCHEMA_UNAUTHORIZED'])
    })
  })

  test('without a URL nobody is asked', async () => {
    const sync = await openSchemaSync(
      { source: null },
      {
        log: pino({ enabled: false }),
        registry: new Registry(),
        signal: AbortSignal.timeout(60_000),
      },
    )
    sync.use(network)
    assert.deepEqual(sync.report(), { state: 'embedded', differing: [] })
    await sync.close()
  })
})
