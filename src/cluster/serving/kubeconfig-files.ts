import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from '../../base/logger.ts'
import { type KeyPair, issueClientCertificate } from '../../server/index.ts'
import { isKubeconfigValid, kubeconfigText, leadsTo, withServers } from '../keys/kubeconfig.ts'
import { replaceFile } from '../../base/durable-files.ts'
import { controllerManagerUser, monitorUser, schedulerUser } from '../parts/users.ts'
import type { ServeOptions } from './serve-options.ts'

export const kubeconfigFile = ({ kubeconfigOut, dataDir }: ServeOptions): string =>
  path.resolve(kubeconfigOut ?? path.join(dataDir, 'kubeconfig'))

interface KubeconfigUser {
  file: string
  commonName: string
  organizations: string[]
}

/** The admin's kubeconfig, and one with limited permissions for each part that may run as its own process. */
const kubeconfigUsers = (options: ServeOptions): KubeconfigUser[] => [
  ...[
    { name: 'controller-manager.conf', user: controllerManagerUser },
    { name: 'scheduler.conf', user: schedulerUser },
    { name: 'monitor.conf', user: monitorUser },
  ].map(({ name, user }) => ({ file: path.join(options.dataDir, name), commonName: user.name, organizations: [] })),
  { file: kubeconfigFile(options), commonName: 'kubernetes-admin', organizations: ['system:masters'] },
]

/** Writes all kubeconfigs, except those that are still valid for this server. */
export function writeKubeconfigs(options: ServeOptions, url: string, authority: KeyPair, now: number): void {
  for (const user of kubeconfigUsers(options)) writeKubeconfig(user, url, authority, now)
}

/** Renews a kubeconfig. A file that was removed, or that names another server by now, is left alone. */
function renewKubeconfig(user: KubeconfigUser, url: string, authority: KeyPair, now: number): boolean {
  const { file } = user
  if (!existsSync(file) || !leadsTo(readFileSync(file, 'utf8'), url, authority.certificate)) return false
  return writeKubeconfig(user, url, authority, now)
}

/** Writes a kubeconfig unless it is valid. Returns true if it did. */
function writeKubeconfig(user: KubeconfigUser, url: string, authority: KeyPair, now: number): boolean {
  const { file, ...subject } = user
  const old = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (isKubeconfigValid(old, url, authority.certificate, now)) return false
  const client = issueClientCertificate(authority, subject, now)
  replaceFile(file, kubeconfigText(url, authority.certificate, subject.commonName, client))
  return true
}

/** The renewals of all kubeconfigs, for `keepRenewed`. */
export const kubeconfigRenewals = (options: ServeOptions, url: string, authority: KeyPair) =>
  kubeconfigUsers(options).map((user) => ({
    what: user.file,
    renew: (nowMs: number) => renewKubeconfig(user, url, authority, nowMs),
  }))

/** Writes the other servers of the cluster into all kubeconfigs. */
export function listServers(options: ServeOptions, url: string, others: readonly string[]): void {
  for (const { file } of kubeconfigUsers(options)) listServersIn(file, url, others, options.logger)
}

/** Writes the other servers into a kubeconfig; our clients use them when this server does not answer. */
function listServersIn(file: string, url: string, others: readonly string[], logger: Logger): void {
  try {
    const text = readFileSync(file, 'utf8')
    const listed = withServers(text, url, others)
    if (listed !== text) replaceFile(file, listed)
  } catch (error) {
    logger.warn('failed to write the other servers to a kubeconfig', { file, error })
  }
}
