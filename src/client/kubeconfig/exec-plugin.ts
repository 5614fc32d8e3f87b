import type { Clock } from '../../base/clock.ts'
import type { ClientCertificate, Credentials, Proof } from '../transport/access.ts'
import type { ExecEntry } from './config.ts'
import type { CommandResult, RunCommand } from './run-command.ts'

export const execVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/** Information about the cluster for plug-ins that ask for it. */
export interface ExecClusterInfo {
  server: string
  'tls-server-name'?: string
  'insecure-skip-tls-verify'?: boolean
  'certificate-authority-data'?: string
  'proxy-url'?: string
  /** Data for the plug-in from the kubeconfig. */
  config?: unknown
}

export interface ExecPluginOptions {
  /** The user's name, for error messages. */
  user: string
  exec: ExecEntry
  /** The path or name of the command. */
  command: string
  cluster: ExecClusterInfo
  run: RunCommand
  clock: Clock
  env: Readonly<Record<string, string | undefined>>
  isTerminal: boolean
}

interface ExecStatus {
  token?: string
  clientCertificateData?: string
  clientKeyData?: string
  expirationTimestamp?: string
}

/** Credentials from an external command. It runs when they are first needed, have expired, or are rejected. */
export class ExecPlugin implements Credentials {
  readonly #options: ExecPluginOptions
  readonly #isInteractive: boolean
  #proof: Proof | undefined
  #expiresAtMs = Number.POSITIVE_INFINITY
  /** The pending run, shared by all callers: it may prompt the user. */
  #running: Promise<Proof> | undefined

  constructor(options: ExecPluginOptions) {
    this.#options = options
    const { exec, isTerminal, user } = options
    const mode = exec.interactiveMode ?? 'IfAvailable'
    if (mode === 'Always' && !isTerminal)
      throw new Error(`exec plug-in of user ${JSON.stringify(user)} needs a terminal, but standard input is not one`)
    this.#isInteractive = mode !== 'Never' && isTerminal
  }

  current(): Proof | Promise<Proof> {
    if (this.#proof && this.#options.clock.now() < this.#expiresAtMs) return this.#proof
    return this.#renew()
  }

  async refused(proof: Proof): Promise<boolean> {
    // An earlier caller was rejected and has already renewed the credentials.
    if (this.#proof !== proof) return true
    await this.#renew()
    return true
  }

  #renew(): Promise<Proof> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #run(): Promise<Proof> {
    const { command, exec, run } = this.#options
    let result: CommandResult
    try {
      result = await run({
        file: command,
        args: exec.args ?? [],
        env: this.#environment(),
        isInteractive: this.#isInteractive,
      })
    } catch (e) {
      throw this.#problem(
        (e as NodeJS.ErrnoException).code === 'ENOENT' ? `${command} is not there` : (e as Error).message,
        e,
      )
    }
    if (result.code !== 0) {
      const said = result.stderr.trim().split('\n').at(-1)
      throw this.#problem(`${command} ended with ${result.code ?? 'a signal'}${said ? `: ${said}` : ''}`)
    }
    const status = this.#statusOf(result.stdout)
    this.#expiresAtMs = status.expirationTimestamp ? Date.parse(status.expirationTimestamp) : Number.POSITIVE_INFINITY
    this.#proof = this.#proofOf(status)
    return this.#proof
  }

  #environment(): Record<string, string | undefined> {
    const { exec, env, cluster } = this.#options
    const added = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]))
    const spec = { interactive: this.#isInteractive, ...(exec.provideClusterInfo ? { cluster } : {}) }
    const info = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec }
    return { ...env, ...added, KUBERNETES_EXEC_INFO: JSON.stringify(info) }
  }

  #statusOf(text: string): ExecStatus {
    let answer: { kind?: string; apiVersion?: string; status?: ExecStatus }
    try {
      answer = JSON.parse(text) as typeof answer
    } catch (e) {
      throw this.#problem('its answer is not JSON', e)
    }
    const wanted = this.#options.exec.apiVersion
    if (answer.apiVersion !== wanted)
      throw this.#problem(`it is configured to use ${wanted}, and has answered in ${answer.apiVersion ?? 'no version'}`)
    const { status } = answer
    if (!status) throw this.#problem('it has answered without a status')
    if (Boolean(status.clientCertificateData) !== Boolean(status.clientKeyData))
      throw this.#problem('it has answered with a certificate or a key, not with both')
    if (!status.token && !status.clientCertificateData)
      throw this.#problem('it has answered with neither a token nor a certificate')
    return status
  }

  #proofOf({ token, clientCertificateData, clientKeyData }: ExecStatus): Proof {
    const known = this.#proof?.certificate
    const isKnown = known && known.certificate === clientCertificateData && known.key === clientKeyData
    const made: ClientCertificate | undefined = clientCertificateData
      ? { certificate: clientCertificateData, key: clientKeyData! }
      : undefined
    return { authorization: token ? `Bearer ${token}` : undefined, certificate: isKnown ? known : made }
  }

  #problem(what: string, cause?: unknown): Error {
    const { user, exec } = this.#options
    const hint = exec.installHint ? `; ${exec.installHint.trim()}` : ''
    return new Error(`exec plug-in of user ${JSON.stringify(user)} has failed: ${what}${hint}`, { cause })
  }
}
