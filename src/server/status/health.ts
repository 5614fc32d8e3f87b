import type { Store } from '../../store/index.ts'
import type { DocumentAnswer, DocumentRequest } from '../http/answer/document.ts'

/** A health check. Returns the problem, or undefined if healthy. */
interface HealthCheck {
  name: string
  check(): string | undefined
  /** A detail for the verbose output, also while healthy. */
  detail?(): string
}

const text = (code: number, body: string): DocumentAnswer => ({
  code: code as 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: Buffer.from(body),
})

/** Longer than an election of etcd's leader. */
const mostSilenceMs = 10_000

/**
 * The checks of a shared store, under Kubernetes' names. They belong to /readyz only, because a restart of this process
 * does not bring the store back.
 */
export function storeChecks(store: Store): HealthCheck[] {
  if (!store.silenceMs) return []
  const check = () => {
    const ms = store.silenceMs!()
    return ms > mostSilenceMs ? `the store has not answered for ${Math.floor(ms / 1000)} s` : undefined
  }
  return ['etcd', 'etcd-readiness'].map((name) => ({ name, check }))
}

/** Serves /livez, /readyz and /healthz, and their single checks, in Kubernetes' format. */
export class Health {
  #live: readonly HealthCheck[]
  #ready: readonly HealthCheck[]

  constructor(live: readonly HealthCheck[], ready: readonly HealthCheck[]) {
    this.#live = [{ name: 'ping', check: () => undefined }, ...live]
    this.#ready = [...this.#live, ...ready]
  }

  /** Adds a check to /readyz. */
  require(check: HealthCheck): void {
    this.#ready = [...this.#ready, check]
  }

  /** Adds an informational entry that never fails. */
  tell(name: string, detail: () => string): void {
    const told: HealthCheck = { name, check: () => undefined, detail }
    this.#live = [...this.#live, told]
    this.#ready = [...this.#ready, told]
  }

  answer({ path, query }: DocumentRequest): DocumentAnswer | undefined {
    const [, root, name, ...more] = path.split('/')
    const checks = root === 'readyz' ? this.#ready : root === 'livez' || root === 'healthz' ? this.#live : undefined
    if (!checks || more.length || name === '') return undefined
    if (name === undefined)
      return this.#all(root!, checks, query?.has('verbose') ?? false, query?.getAll('exclude') ?? [])
    const one = checks.find((c) => c.name === name)
    if (!one) return undefined
    const problem = one.check()
    return problem ? text(500, `internal server error: ${problem}\n`) : text(200, 'ok')
  }

  #all(root: string, checks: readonly HealthCheck[], isVerbose: boolean, excluded: readonly string[]): DocumentAnswer {
    const lines: string[] = []
    let isWell = true
    for (const { name, check, detail } of checks) {
      if (excluded.includes(name)) {
        lines.push(`[+]${name} excluded: ok`)
        continue
      }
      const problem = check()
      if (problem) isWell = false
      lines.push(problem ? `[-]${name} failed: ${problem}` : `[+]${name} ok${detail ? `: ${detail()}` : ''}`)
    }
    if (!isWell) return text(500, `${lines.join('\n')}\n${root} check failed\n`)
    return text(200, isVerbose ? `${lines.join('\n')}\n${root} check passed\n` : 'ok')
  }
}
