import { FeatureGates } from '../../src/api/feature-gates.ts'
import type { KubeObject } from '../../src/api/object.ts'
import type { Clock } from '../../src/base/clock.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import { type ApiRequest, Client, type Transport, type WatchListener } from '../../src/client/index.ts'
import { HttpTransport } from '../../src/client/http/index.ts'
import { fixedCredentials } from '../../src/client/transport/access.ts'
import { InProcessTransport } from '../../src/cluster/index.ts'
import { ApiServer, Authenticator, type Exchange, type Listener, admissionPlugins, createAuthority, issueServerCertificate, listen } from '../../src/server/index.ts'
import { type Store, openMemoryStore } from '../../src/store/index.ts'
import { SeededRandom } from '../seeded-random.ts'
import { settle, until } from './server.ts'
import { TappedTransport } from './tapped-transport.ts'

/** A server on a clock that the test moves, and a way to it. */
export interface World {
  readonly clock: VirtualClock
  readonly random: SeededRandom
  readonly store: Store
  /** The way that is tested. */
  readonly transport: TappedTransport
  /** Another way, on which nothing goes wrong. */
  readonly client: Client
  /** Watches that are open now say nothing any more, and stay open. */
  freezeWatches(): void
  /** The server ends, and another one takes its place on the same store. */
  restart(): Promise<void>
  /** Lets time pass, and everything happen that follows from it. */
  pass(ms: number): Promise<void>
  /** Waits until something is so. */
  until(what: string, isSo: () => boolean): Promise<void>
  close(): Promise<void>
}

const user = { name: 'tester', groups: ['system:masters'] }
const token = 'sesame'

/** The differences between transports to a server. */
interface Way {
  transport(): Transport
  freezeWatches(): void
  serve(server: ApiServer): Promise<void>
  unserve(): Promise<void>
  /** Resolves when what was sent has arrived. */
  settle(): Promise<void>
}

/** A server gathers what it sends for a few milliseconds. Where time stands still, these pass all the same. */
function withoutShortWaits(clock: VirtualClock): Clock {
  return {
    now: () => clock.now(),
    after(delayMs, fn) {
      if (delayMs > 10) return clock.after(delayMs, fn)
      const timer = setImmediate(fn)
      return () => clearImmediate(timer)
    },
  }
}

async function makeWorld(way: Way): Promise<World> {
  const clock = new VirtualClock()
  const random = new SeededRandom(1)
  const store = openMemoryStore({ clock })
  const start = () =>
    ApiServer.open({
      store,
      gates: FeatureGates.of({}),
      authenticator: new Authenticator(new Map([[token, user]])),
      admission: admissionPlugins,
      clock: withoutShortWaits(clock),
      random,
      logger: silentLogger,
      release: '0.0.0-test',
      freezesObjects: true,
      address: '127.0.0.1:6443',
    })
  let server = await start()
  await way.serve(server)
  const transport = new TappedTransport(() => way.transport(), clock)
  const straight: Transport = {
    send: (request) => new InProcessTransport(server, user).send(request),
    watch: (request, listener) => new InProcessTransport(server, user).watch(request, listener),
    close: async () => {},
  }
  return {
    clock,
    random,
    store,
    transport,
    client: new Client(straight, { clock, random }),
    freezeWatches: () => way.freezeWatches(),
    async restart() {
      await way.unserve()
      server.close()
      server = await start()
      await way.serve(server)
    },
    pass: (ms) => clock.pass(ms, () => way.settle()),
    until,
    async close() {
      await transport.close()
      await way.unserve()
      server.close()
      await store.close()
    },
  }
}

/** Straight into the server of the same process. */
export function inProcessWorld(): Promise<World> {
  let inner: InProcessTransport
  let frozen = { isFrozen: false }
  // A function call cannot freeze; what stands for it is that events are lost on the way.
  const freezable: Transport = {
    send: (request) => inner.send(request),
    watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>) {
      const mine = frozen
      const unless = (fn: () => void) => {
        if (!mine.isFrozen) fn()
      }
      return inner.watch<T>(request, { opened: () => listener.opened(), event: (event) => unless(() => listener.event(event)), closed: (error) => unless(() => listener.closed(error)) })
    },
    close: () => inner.close(),
  }
  return makeWorld({
    transport: () => freezable,
    freezeWatches() {
      frozen.isFrozen = true
      frozen = { isFrozen: false }
    },
    async serve(server) {
      inner = new InProcessTransport(server, user)
    },
    async unserve() {},
    settle,
  })
}

/** Over TLS, through sockets. */
export async function httpWorld(): Promise<World> {
  const authority = createAuthority(Date.now())
  const serving = issueServerCertificate(authority, ['127.0.0.1', 'localhost'], Date.now())
  let listener: Listener | undefined
  let port = 0
  let frozen = { isFrozen: false }
  let transport: HttpTransport | undefined
  const way: Way = {
    transport: () => transport!,
    freezeWatches() {
      frozen.isFrozen = true
      frozen = { isFrozen: false }
    },
    async serve(server) {
      listener = await listen({ address: '127.0.0.1', port, serving, clientAuthorities: [authority.certificate], handle: (exchange) => server.handle(freezableExchange(exchange, frozen)) })
      port = listener.port
      // On real time, as its sockets are.
      transport ??= new HttpTransport({
        server: new URL(`https://127.0.0.1:${port}`),
        authority: () => authority.certificate,
        insecureSkipTlsVerify: false,
        headers: {},
        credentials: fixedCredentials({ authorization: `Bearer ${token}` }),
        namespace: 'default',
      })
    },
    async unserve() {
      await listener?.close(0)
    },
    // Messages that the server has sent on a connection arrive before the response to a later request.
    async settle() {
      for (let i = 0; i < 2; i++) {
        await settle()
        await transport!.send({ method: 'GET', path: '/version' }).catch(() => {})
      }
      await settle()
    },
  }
  return makeWorld(way)
}

/** Its streams send nothing once they are frozen. */
function freezableExchange(inner: Exchange, frozen: { isFrozen: boolean }): Exchange {
  return {
    method: inner.method,
    url: inner.url,
    certificate: inner.certificate,
    signal: inner.signal,
    upgrade: inner.upgrade,
    header: (name) => inner.header(name),
    headersLike: (prefix) => inner.headersLike(prefix),
    readBody: (limit) => inner.readBody(limit),
    bodyStream: () => inner.bodyStream(),
    respond: (code, headers, body) => inner.respond(code, headers, body),
    stream(code, headers) {
      const sink = inner.stream(code, headers)
      return {
        write: (chunk) => {
          if (!frozen.isFrozen) sink.write(chunk)
        },
        backlog: () => sink.backlog(),
        onDrain: (resume) => sink.onDrain(resume),
        end: () => {
          if (!frozen.isFrozen) sink.end()
        },
      }
    },
    forward: (code, headers, source) => inner.forward(code, headers, source),
    destroy: () => inner.destroy(),
  }
}
