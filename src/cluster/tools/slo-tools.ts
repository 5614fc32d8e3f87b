import { isNotFound } from '../../api/errors.ts'
import { type ClusterAccess, HttpTransport, fixedCredentials, loadAccess } from '../../client/index.ts'
import { readCertificates, readFlagFile } from '../serving/flag-files.ts'
import {
  type OperatorOptions,
  type Slo,
  type SloReport,
  grafanaDashboard,
  operatorObjects,
  parseSlos,
  prometheusRules,
  thresholdsPast,
} from '../../monitor/index.ts'

export interface SloSource {
  /** URL of the monitor. Default: the monitor of the API server. */
  monitor: URL | undefined
  /** Default: as kubectl finds it. */
  kubeconfig: string | undefined
  /** Files with the token for the monitor and the CA of its certificate. */
  tokenFile?: string | undefined
  certificateAuthority?: string | undefined
  release: string
}

export type RulesFormat = 'prometheus' | 'operator' | 'grafana'

export interface RulesOptions extends OperatorOptions {
  format: RulesFormat
  /** Settings of the monitor that will use the objectives. */
  creationTimeoutMs: number
}

/** Without a CA, any certificate is accepted and no token is sent. */
function monitorAccess(server: URL, { tokenFile, certificateAuthority }: SloSource): ClusterAccess {
  const authority =
    certificateAuthority === undefined ? undefined : readCertificates('--certificate-authority', certificateAuthority)
  if (tokenFile !== undefined && !authority) throw new Error('--token-file: requires --certificate-authority')
  const proof =
    tokenFile === undefined ? {} : { authorization: `Bearer ${readFlagFile('--token-file', tokenFile).trim()}` }
  return {
    server,
    authority: () => authority,
    insecureSkipTlsVerify: !authority,
    headers: {},
    credentials: fixedCredentials(proof),
    namespace: 'default',
  }
}

/** Fetches the report of a monitor. */
export async function fetchSlos(source: SloSource): Promise<SloReport> {
  const { monitor, kubeconfig, release } = source
  const access = monitor ? monitorAccess(monitor, source) : await loadAccess({ file: kubeconfig })
  const transport = new HttpTransport(access, {
    userAgent: `coxswain-slo/${release} (${process.platform}/${process.arch})`,
  })
  try {
    return await transport.send<SloReport>({ method: 'GET', path: '/slo' })
  } catch (e) {
    if (!isNotFound(e)) throw e
    const hint = monitor
      ? 'it was started without --slo-file'
      : 'it runs no monitor with --slo-file; use --monitor to name one'
    throw new Error(`${access.server.origin} has no objectives: ${hint}`, { cause: e })
  } finally {
    await transport.close()
  }
}

/**
 * Reads a file of objectives for a monitor with this creation timeout. Throws an error that names the file and the
 * defect.
 */
export async function readSlos(file: string, creationTimeoutMs: number, namedBy = '--slo-file'): Promise<Slo[]> {
  const text = readFlagFile(namedBy, file)
  try {
    const slos = await parseSlos(text)
    const problems = thresholdsPast(slos, creationTimeoutMs)
    if (problems.length > 0) throw new Error(problems.join('\n'))
    return slos
  } catch (e) {
    const problems = (e instanceof Error ? e.message : String(e)).split('\n')
    throw new Error(
      `${file}:${problems.map((problem) => (problems.length > 1 ? `\n  ${problem}` : ` ${problem}`)).join('')}`,
      { cause: e },
    )
  }
}

/** Converts a file of objectives for Prometheus, its operator or Grafana. */
export async function rulesOf(file: string, { format, creationTimeoutMs, ...options }: RulesOptions): Promise<string> {
  const slos = await readSlos(file, creationTimeoutMs, 'the file of objectives')
  if (format === 'grafana') return grafanaDashboard(slos)
  return format === 'operator' ? operatorObjects(slos, options) : prometheusRules(slos, options)
}
