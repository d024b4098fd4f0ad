/** A process with one fastify route that answers the bytes it was given: the floor of any query. */
import fastify from 'fastify'

process.once('message', (message: { readonly body: string }) => {
  const server = fastify()
  server.post('/', (_request, reply) =>
    reply.header('content-type', 'application/json').send(message.body),
  )
  server.listen({ port: 0, host: '127.0.0.1' }).then(
    (url) => process.send?.({ url }),
    () => process.exit(1),
  )
})
process.on('disconnect', () => process.exit(0))
