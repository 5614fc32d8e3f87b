import { isNotFound } from '../api/errors.ts'
import { type ClusterAccess, HttpTransport, fixedCredentials, loadAccess } from '../client/index.ts'
import { readCertificates, readFlagFile } from './flag-files.ts'
import { type OperatorOptions, type Slo, type SloReport, grafanaDashboard, operatorObjects, parseSlos, prometheusRules, thresholdsPast } from '../monitor/index.ts'

export interface SloSource {
  /** Undefined: the API server has a monitor of its own. */
  monitor: URL | undefined
  /** Undefined: as kubectl finds it. */
  kubeconfig: string | undefined
  /** Files with the token for a monitor, and with what vouches for its certificate. */
  tokenFile?: string | undefined
  certificateAuthority?: string | undefined
  release: string
}

export type RulesFormat = 'prometheus' | 'operator' | 'grafana'

export interface RulesOptions extends OperatorOptions {
  format: RulesFormat
  /** The settings of the monitor that will serve the objectives. */
  creationTimeoutMs: number
}

/** Whoever says nothing about a monitor's certificate takes any, and shows no token to it. */
function monitorAccess(server: URL, { tokenFile, certificateAuthority }: SloSource): ClusterAccess {
  const authority = certificateAuthority === undefined ? undefined : readCertificates('--certificate-authority', certificateAuthority)
  if (tokenFile !== undefined && !authority) throw new Error('--token-file: say with --certificate-authority who may get the token')
  const proof = tokenFile === undefined ? {} : { authorization: `Bearer ${readFlagFile('--token-file', tokenFile).trim()}` }
  return { server, authority: () => authority, insecureSkipTlsVerify: !authority, headers: {}, credentials: fixedCredentials(proof), namespace: 'default' }
}

/** Asks a monitor how objectives stand. */
export async function fetchSlos(source: SloSource): Promise<SloReport> {
  const { monitor, kubeconfig, release } = source
  const access = monitor ? monitorAccess(monitor, source) : await loadAccess({ file: kubeconfig })
  const transport = new HttpTransport(access, { userAgent: `coxswain-slo/${release} (${process.platform}/${process.arch})` })
  try {
    return await transport.send<SloReport>({ method: 'GET', path: '/slo' })
  } catch (e) {
    if (!isNotFound(e)) throw e
    const hint = monitor ? 'it was started without --slo-file' : 'it runs no monitor with --slo-file; say with --monitor where one is'
    throw new Error(`${access.server.origin} knows no objectives: ${hint}`, { cause: e })
  } finally {
    await transport.close()
  }
}

/** Reads a file of objectives for a monitor with this creation timeout. Throws an error that names the file, and what is wrong in it. */
export async function readSlos(file: string, creationTimeoutMs: number, namedBy = '--slo-file'): Promise<Slo[]> {
  const text = readFlagFile(namedBy, file)
  try {
    const slos = await parseSlos(text)
    const problems = thresholdsPast(slos, creationTimeoutMs)
    if (problems.length > 0) throw new Error(problems.join('\n'))
    return slos
  } catch (e) {
    const problems = (e instanceof Error ? e.message : String(e)).split('\n')
    throw new Error(`${file}:${problems.map((problem) => (problems.length > 1 ? `\n  ${problem}` : ` ${problem}`)).join('')}`, { cause: e })
  }
}

/** A file of objectives, for Prometheus, its operator or Grafana. */
export async function rulesOf(file: string, { format, creationTimeoutMs, ...options }: RulesOptions): Promise<string> {
  const slos = await readSlos(file, creationTimeoutMs, 'the file of objectives')
  if (format === 'grafana') return grafanaDashboard(slos)
  return format === 'operator' ? operatorObjects(slos, options) : prometheusRules(slos, options)
}
