import { createHash } from 'node:crypto'
import type { SubjectAccessReview, TokenReview } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { type Client, subjectaccessreviews, tokenreviews } from '../../client/index.ts'
import type { Exchange } from '../../server/index.ts'

export interface ScrapeGateOptions {
  client: Client
  clock: Clock
  /** Paths without authorization, `/livez` or `/debug/*`. */
  alwaysAllowPaths: readonly string[]
}

type User = NonNullable<NonNullable<TokenReview['status']>['user']>

interface Refusal {
  code: number
  message: string
}

/** Cache lifetime of decisions, as in Kubernetes' components. */
const rememberMs = 10_000
/** Maximum number of cached decisions; then all are dropped, so that many different tokens cannot fill the memory. */
const maxRemembered = 1000

/**
 * Authenticates and authorizes scrapes with the API server, as Kubernetes' components do: TokenReview for a bearer
 * token, SubjectAccessReview for the path. A client certificate identifies its user directly. Unlike there, a request
 * without credentials is refused without a review: an API server that allows everything would let it in.
 */
export class ScrapeGate {
  readonly #options: ScrapeGateOptions
  readonly #users: Answers<User | undefined>
  readonly #allowed: Answers<boolean>

  constructor(options: ScrapeGateOptions) {
    this.#options = options
    this.#users = new Answers(options.clock)
    this.#allowed = new Answers(options.clock)
  }

  /** Returns the reason for refusing a request; undefined if it is allowed. */
  async refusalOf(exchange: Pick<Exchange, 'url' | 'method' | 'certificate' | 'header'>): Promise<Refusal | undefined> {
    const { pathname: path } = new URL(exchange.url, 'https://localhost')
    const isAllowed = (allowed: string) =>
      allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed
    if (this.#options.alwaysAllowPaths.some(isAllowed)) return undefined
    try {
      const user = await this.#userOf(exchange.header('authorization'), exchange.certificate)
      if (!user) return { code: 401, message: 'Unauthorized' }
      const verb = exchange.method.toLowerCase()
      if (await this.#mayRead(user, path, verb)) return undefined
      return {
        code: 403,
        message: `Forbidden: User ${JSON.stringify(user.username)} cannot ${verb} path ${JSON.stringify(path)}`,
      }
    } catch (e) {
      return {
        code: 500,
        message: `Internal Server Error: the API server failed to authorize the request: ${(e as Error).message}`,
      }
    }
  }

  async #userOf(authorization: string | undefined, certificate: Exchange['certificate']): Promise<User | undefined> {
    if (certificate)
      return { username: certificate.commonName, groups: [...certificate.organizations, 'system:authenticated'] }
    const [, token] = /^bearer\s+(\S+)\s*$/i.exec(authorization ?? '') ?? []
    if (token === undefined) return undefined
    return this.#users.get(createHash('sha256').update(token).digest('base64'), async () => {
      const { status } = await this.#options.client.create(tokenreviews, {
        metadata: {},
        spec: { token },
      } as TokenReview)
      return status?.authenticated ? status.user : undefined
    })
  }

  #mayRead(user: User, path: string, verb: string): Promise<boolean> {
    return this.#allowed.get(JSON.stringify([user, path, verb]), async () => {
      const { username, groups, uid, extra } = user
      const spec = { user: username, groups, uid, extra, nonResourceAttributes: { path, verb } }
      const { status } = await this.#options.client.create(subjectaccessreviews, {
        metadata: {},
        spec,
      } as SubjectAccessReview)
      return status?.allowed === true
    })
  }
}

/** Caches answers. Errors are not cached. */
class Answers<T> {
  readonly #clock: Clock
  readonly #known = new Map<string, { atMs: number; answer: T }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key)
    if (known && this.#clock.now() < known.atMs + rememberMs) return known.answer
    const answer = await ask()
    if (this.#known.size >= maxRemembered) this.#known.clear()
    this.#known.set(key, { atMs: this.#clock.now(), answer })
    return answer
  }
}
