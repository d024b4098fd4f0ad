/**
 * The playground: GraphiQL on a port of its own, with the GraphQL endpoint under the same origin, so
 * that it works behind a forwarded port and without any network beyond it.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Graphql } from '../graphql.ts'
import { type PlaygroundFile, readPlaygroundFiles } from './playground-files.ts'
import { type PlaygroundTab, viewTabs } from './playground-tabs.ts'
import { type GraphqlRouteOptions, graphqlRoutes } from './route.ts'

const pagePath = '/'

/** Everything is served from here; styles are also set by GraphiQL at run time, fonts are in its own. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'font-src data:',
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Declares page, files and the GraphQL routes. Throws GRAPHQL_PLAYGROUND_MISSING. */
export async function playgroundRoutes(
  server: FastifyInstance,
  graphql: Graphql,
  options: Omit<GraphqlRouteOptions, 'playgroundPath'>,
): Promise<void> {
  const files = await readPlaygroundFiles()
  await graphqlRoutes(server, graphql, { ...options, playgroundPath: pagePath })
  server.get(pagePath, (_request, reply) =>
    guarded(reply)
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentSecurityPolicy,
        'cache-control': 'no-cache',
      })
      .send(toPage(files, viewTabs(graphql.views()))),
  )
  for (const file of files) {
    server.get(file.path, ({ headers }, reply) => sendFile(file, headers['accept-encoding'], reply))
  }
}

async function sendFile(
  file: PlaygroundFile,
  acceptEncoding: string | string[] | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  guarded(reply).headers({
    'content-type': file.contentType,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  })
  if (acceptEncoding?.includes('gzip') !== true) return reply.send(file.content)
  return reply.header('content-encoding', 'gzip').send(await file.gzipped())
}

function guarded(reply: FastifyReply): FastifyReply {
  return reply.headers({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
}

/** Three nodes joined to a mesh. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M8 24 16 7l8 17z" fill="none" stroke="#3b5bdb" stroke-width="3"/><g fill="#3b5bdb"><circle cx="16" cy="7" r="5"/><circle cx="8" cy="24" r="5"/><circle cx="24" cy="24" r="5"/></g></svg>`,
)}`

function toPage(files: readonly PlaygroundFile[], tabs: readonly PlaygroundTab[]): string {
  const paths = files.map(({ path }) => path)
  const styles = paths.filter((path) => path.endsWith('.css'))
  const scripts = paths.filter((path) => path.endsWith('.js'))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Viewmesh</title>
<link rel="icon" href="${icon}">
${styles.map((path) => `<link rel="stylesheet" href="${path}">`).join('\n')}
<style>
body { margin: 0 }
#playground { height: 100dvh }
.graphiql-doc-explorer { overflow-wrap: anywhere }
</style>
</head>
<body>
<div id="playground" data-view-tabs="${inAttribute(JSON.stringify(tabs))}"><noscript>The playground needs JavaScript.</noscript></div>
${scripts.map((path) => `<script src="${path}"></script>`).join('\n')}
</body>
</html>
`
}

function inAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}
