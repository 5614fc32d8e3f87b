import { turnsOf } from '../base/clock.ts'
import { FeatureGates } from '../api/feature-gates.ts'
import { jsonText } from '../api/json/index.ts'
import { silentLogger } from '../base/logger.ts'
import { systemRandom } from '../base/random.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import { openMemoryStore } from '../store/index.ts'
import { admissionPlugins } from './admission/index.ts'
import { ApiServer } from './api-server.ts'
import type { ApiServerOptions } from './server-options.ts'
import { Authenticator } from './auth/authenticate.ts'
import { parsePath } from './requests/path.ts'
import type { ResourceRequest, Result, ServerParts } from './requests/request.ts'
import type { UserInfo } from './objects/objects.ts'
import { resolve } from './requests/resolve.ts'

/** A server on a memory store for tests of verbs, without paths and encodings. */
export class ServerTrial {
  readonly server: ApiServer
  readonly clock: VirtualClock

  private constructor(server: ApiServer, clock: VirtualClock) {
    this.server = server
    this.clock = clock
  }

  static async open(
    more: Partial<Pick<ApiServerOptions, 'authorization' | 'anonymous' | 'admission' | 'logger'>> = {},
  ): Promise<ServerTrial> {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1))
    const server = await ApiServer.open({
      store: openMemoryStore({ clock }),
      gates: FeatureGates.of(),
      authenticator: new Authenticator(new Map([['sesame', { name: 'ali', groups: ['thieves'] }]])),
      admission: admissionPlugins,
      clock,
      random: systemRandom,
      logger: silentLogger,
      release: '0.0.0-test',
      freezesObjects: true,
      address: '127.0.0.1:6443',
      ...more,
    })
    return new ServerTrial(server, clock)
  }

  get parts(): ServerParts {
    return this.server.parts
  }

  /** Runs a request like any other. Undefined if the API group does not exist. */
  run(method: string, url: string, body?: unknown, user?: UserInfo): Promise<Result | undefined> {
    return this.send(method, url, body === undefined ? '' : jsonText(body), user)
  }

  /** Runs a request with a text body. */
  send(
    method: string,
    url: string,
    text: string,
    user: UserInfo = { name: 'tester', groups: [] },
  ): Promise<Result | undefined> {
    const [path = '', query = ''] = url.split('?')
    const parsed = parsePath(path)
    if (parsed.kind !== 'resource') throw new Error(`${url} is not the path of a resource`)
    const bytes = Buffer.from(text)
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    return this.server.requests.run({
      what: resolve(method, parsed, new URLSearchParams(query), this.parts.registry),
      user,
      warnings: [],
      signal: () => new AbortController().signal,
      readBody: () => ({ bytes, contentType }),
    })
  }

  /** A request for a served path, overridden by `more`. */
  request(
    url: string,
    body?: unknown,
    more: Partial<ResourceRequest> & { contentType?: string } = {},
  ): ResourceRequest {
    const [path = '', query = ''] = url.split('?')
    const parsed = parsePath(path)
    if (parsed.kind !== 'resource') throw new Error(`${url} is not the path of a resource`)
    const { contentType = 'application/json', ...rest } = more
    return {
      server: this.parts,
      target: this.parts.registry.find(parsed.apiVersion, parsed.plural)!,
      namespace: parsed.namespace,
      name: parsed.name,
      subresource: parsed.subresource,
      query: new URLSearchParams(query),
      user: { name: 'tester', groups: [] },
      body: { bytes: Buffer.from(body === undefined ? '' : jsonText(body)), contentType },
      warnings: [],
      rules: { gates: this.parts.gates, now: this.clock.now(), user: { name: 'tester', groups: [] } },
      turns: turnsOf((more.server ?? this.parts).clock),
      signal: () => new AbortController().signal,
      ...rest,
    }
  }
}
