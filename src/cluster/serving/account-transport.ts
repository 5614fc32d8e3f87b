import { isAlreadyExists } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import {
  type ApiRequest,
  type ClusterAccess,
  type Credentials,
  HttpTransport,
  type HttpTransportOptions,
  type Identity,
  type Proof,
  type Transport,
  type WatchListener,
} from '../../client/index.ts'

const namespace = 'kube-system'
const tokenSeconds = 3600
/** A token is replaced after this fraction of its lifetime. */
const lifeUsed = 0.8

const paths = {
  accounts: `/api/v1/namespaces/${namespace}/serviceaccounts`,
  token: (name: string) => `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
}

/** Tokens of one service account, requested as a user who may do so. Creates the account if it is missing. */
class AccountCredentials implements Credentials {
  readonly #owner: Transport
  readonly #name: string
  readonly #clock: Clock
  #held: { proof: Promise<Proof>; untilMs: number } | undefined

  constructor(owner: Transport, name: string, clock: Clock) {
    this.#owner = owner
    this.#name = name
    this.#clock = clock
  }

  current(): Promise<Proof> {
    const nowMs = this.#clock.now()
    if (this.#held && nowMs < this.#held.untilMs) return this.#held.proof
    const proof = this.#ask()
    this.#held = { proof, untilMs: nowMs + tokenSeconds * 1000 * lifeUsed }
    // Failures are not cached: the next request retries.
    proof.catch(() => void (this.#held = undefined))
    return proof
  }

  async refused(proof: Proof): Promise<boolean> {
    if (this.#held && (await this.#held.proof) !== proof) return true
    this.#held = undefined
    return true
  }

  async #ask(): Promise<Proof> {
    const metadata = { name: this.#name, namespace }
    await this.#owner
      .send({ method: 'POST', path: paths.accounts, body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata } })
      .catch((e: unknown) => {
        if (!isAlreadyExists(e)) throw e
      })
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [], expirationSeconds: tokenSeconds },
    }
    const { status } = await this.#owner.send<{ status: { token: string } }>({
      method: 'POST',
      path: paths.token(this.#name),
      body,
    })
    return { authorization: `Bearer ${status.token}` }
  }
}

/**
 * Connects as the user of a kubeconfig, and for each controller as its own service account, like Kubernetes' controller
 * manager with --use-service-account-credentials.
 */
export class AccountTransport implements Transport {
  readonly #own: HttpTransport
  readonly #access: ClusterAccess
  readonly #options: HttpTransportOptions
  readonly #clock: Clock
  readonly #accounts = new Map<string, HttpTransport>()

  constructor(access: ClusterAccess, options: HttpTransportOptions, clock: Clock) {
    this.#own = new HttpTransport(access, options)
    this.#access = access
    this.#options = options
    this.#clock = clock
  }

  send<T>(request: ApiRequest): Promise<T> {
    return this.#own.send<T>(request)
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    return this.#own.watch(request, listener)
  }

  as({ kind, name }: Identity): Transport {
    if (kind !== 'service account') return this
    let transport = this.#accounts.get(name)
    if (!transport) {
      transport = new HttpTransport(
        { ...this.#access, credentials: new AccountCredentials(this.#own, name, this.#clock) },
        this.#options,
      )
      this.#accounts.set(name, transport)
    }
    return transport
  }

  async close(): Promise<void> {
    await Promise.all([...this.#accounts.values()].map((transport) => transport.close()))
    await this.#own.close()
  }
}
