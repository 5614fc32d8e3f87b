import { X509Certificate, createPrivateKey } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { isKeyOf } from '../../server/index.ts'
import { valuesOf } from '../keys/kubeconfig.ts'
import { validityOf } from '../keys/renewal.ts'
import { type Check, type Finding, type Patient, dayMs, ok, problem, warning } from './finding.ts'

const check = 'certificates'
const others = 0o077

/** Checks the cluster's CAs and keys, the kubeconfigs signed by them, and their file modes. */
export const checkCertificates: Check = (patient) => {
  const pki = path.join(patient.dataDir, 'pki')
  if (!existsSync(path.join(pki, 'ca.key')))
    return [ok(check, `${pki} has no certificates yet: the first start creates them`)]
  return [...authorities(patient, pki), ...tokenKey(pki), ...kubeconfigs(patient, pki), ...permissions(patient)]
}

const restoreKeys = 'Restore pki/ from a copy, or the whole data directory from a backup'

function authorities({ nowMs }: Patient, pki: string): Finding[] {
  return ['ca', 'front-proxy-ca'].map((name) => {
    const file = path.join(pki, `${name}.crt`)
    try {
      const pair = { certificate: readFileSync(file, 'utf8'), key: readFileSync(path.join(pki, `${name}.key`), 'utf8') }
      if (!isKeyOf(pair))
        return problem(check, `${name}.crt and ${name}.key are not a certificate and its key`, restoreKeys)
      const { ca } = new X509Certificate(pair.certificate)
      if (!ca) return problem(check, `${file} is not the certificate of an authority`, restoreKeys)
      return expiry(
        `the authority ${name}`,
        pair.certificate,
        nowMs,
        'No command renews an authority: plan a new cluster, and move the workloads to it',
      )
    } catch (e) {
      return problem(check, `${file} and its key cannot be used: ${(e as Error).message}`, restoreKeys)
    }
  })
}

/** Warn this long before a CA expires: its replacement must be planned. */
const warnBeforeMs = 90 * dayMs

function expiry(what: string, certificate: string, nowMs: number, help: string, warnMs = warnBeforeMs): Finding {
  const { fromMs, untilMs } = validityOf(certificate)
  const until = new Date(untilMs).toISOString().slice(0, 10)
  if (nowMs < fromMs)
    return problem(
      check,
      `${what} is not valid before ${new Date(fromMs).toISOString()}: the clock of this machine is behind, or was ahead when it was made`,
      'Correct the clock',
    )
  if (nowMs > untilMs) return problem(check, `${what} has expired on ${until}`, help)
  if (untilMs - nowMs < warnMs)
    return warning(check, `${what} expires on ${until}, in ${Math.floor((untilMs - nowMs) / dayMs)} days`, help)
  return ok(check, `${what} is valid until ${until}`)
}

function tokenKey(pki: string): Finding[] {
  const file = path.join(pki, 'sa.key')
  try {
    createPrivateKey(readFileSync(file))
    return []
  } catch (e) {
    return [
      problem(
        check,
        `${file}, which signs tokens of service accounts, cannot be used: ${(e as Error).message}`,
        restoreKeys,
      ),
    ]
  }
}

function kubeconfigs({ dataDir, nowMs }: Patient, pki: string): Finding[] {
  const findings = ['kubeconfig', 'controller-manager.conf', 'scheduler.conf', 'monitor.conf'].flatMap((name) => {
    const file = path.join(dataDir, name)
    return existsSync(file) ? [kubeconfig(file, path.join(pki, 'ca.crt'), nowMs)] : []
  })
  const bad = findings.filter(({ level }) => level !== 'ok')
  return bad.length > 0 || findings.length === 0
    ? bad
    : [ok(check, `${findings.length} kubeconfigs have certificates of the cluster's authority`)]
}

function kubeconfig(file: string, caFile: string, nowMs: number): Finding {
  const help = 'Remove the file, and restart the server: it writes a new one'
  try {
    const text = readFileSync(file, 'utf8')
    const authority = readFileSync(caFile)
    const [client] = valuesOf(text, 'client-certificate-data')
    const [trusted] = valuesOf(text, 'certificate-authority-data')
    if (client === undefined) return ok(check, `${file} has no certificate of its own`)
    const pem = Buffer.from(client, 'base64').toString()
    if (!new X509Certificate(pem).verify(new X509Certificate(authority).publicKey))
      return problem(
        check,
        `${file} has a certificate of another authority: the server cannot authenticate its user`,
        help,
      )
    if (trusted !== authority.toString('base64'))
      return problem(check, `${file} trusts another authority than ${caFile}: clients will refuse the server`, help)
    return expiry(`the certificate in ${file}`, pem, nowMs, help, 14 * dayMs)
  } catch (e) {
    return problem(check, `${file} cannot be used: ${(e as Error).message}`, help)
  }
}

function permissions({ dataDir }: Patient): Finding[] {
  const pki = path.join(dataDir, 'pki')
  const isReachable = isOpen(dataDir)
  const files = [
    ...(isOpen(pki) && isReachable
      ? readdirSync(pki)
          .filter((name) => name.endsWith('.key'))
          .map((name) => path.join(pki, name))
      : []),
    ...(isReachable
      ? ['kubeconfig', 'controller-manager.conf', 'scheduler.conf', 'monitor.conf', 'db/data.mdb'].map((name) =>
          path.join(dataDir, name),
        )
      : []),
  ].filter((file) => isOpen(file) && (path.basename(file) !== 'data.mdb' || isOpen(path.dirname(file))))
  if (files.length === 0) return [ok(check, 'private files are readable by their owner only')]
  return [
    problem(
      check,
      `other users of this machine may read ${files.join(', ')}`,
      `chmod 700 ${dataDir}, and chmod 600 these files; replace keys and secrets that others may have read`,
    ),
  ]
}

const isOpen = (file: string): boolean => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & others) !== 0
