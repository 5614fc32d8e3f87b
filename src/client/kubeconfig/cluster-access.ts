import path from 'node:path'
import { parseYaml } from '../../api/json/index.ts'
import type { Clock } from '../../base/clock.ts'
import type { ClusterAccess, Credentials } from '../transport/access.ts'
import { parseProxy } from '../http/proxy-choice.ts'
import { type ClusterEntry, type Config, type ContextEntry, type UserEntry, readConfig } from './config.ts'
import { FileCredentials, type Source, fixedSource } from './credentials.ts'
import { type ExecClusterInfo, ExecPlugin, execVersions } from './exec-plugin.ts'
import type { RunCommand } from './run-command.ts'
import { WatchedFile } from './watched-file.ts'

/** The environment that a kubeconfig is used in. */
export interface Surroundings {
  clock: Clock
  env: Readonly<Record<string, string | undefined>>
  run: RunCommand
  /** True if the user is at a terminal. */
  isTerminal: boolean
}

/** Overrides of the current context, or parts of it. */
export interface Choice {
  context?: string | undefined
  cluster?: string | undefined
  user?: string | undefined
  namespace?: string | undefined
}

/** Tokens are reread as often as in client-go's worst case; certificates change rarely and need a new connection. */
const tokenEveryMs = 10_000
const certificateEveryMs = 60_000

const quoted = (name: string) => JSON.stringify(name)

/** Returns the access to the cluster of a context. Throws one sentence that says what is missing or unsupported. */
export function clusterAccess(config: Config, choice: Choice, around: Surroundings): ClusterAccess {
  const context = chosenContext(config, choice)
  const clusterName = choice.cluster || context.cluster || ''
  const userName = choice.user || context.user || ''
  const cluster = named(config.clusters, 'cluster', clusterName)
  const user = userName === '' ? ({ file: '' } satisfies UserEntry) : named(config.users, 'user', userName)
  const server = serverOf(cluster, clusterName)
  const authority = certificateAuthority(cluster, clusterName, around.clock)
  const otherServers = otherServersOf(cluster, clusterName, around.clock)
  return {
    server,
    ...(otherServers ? { otherServers } : {}),
    authority: () => authority?.content(),
    tlsServerName: cluster['tls-server-name'] || undefined,
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] === true,
    proxy: cluster['proxy-url'] ? parseProxy(cluster['proxy-url']) : undefined,
    headers: impersonation(user, userName),
    credentials: credentialsOf(user, userName, () => execCluster(cluster, authority), around),
    namespace: choice.namespace || context.namespace || 'default',
  }
}

function chosenContext(config: Config, choice: Choice): ContextEntry {
  const name = choice.context || config.currentContext
  if (name !== '') return named(config.contexts, 'context', name)
  if (choice.cluster) return { file: '' }
  throw new Error(`the kubeconfig has no current context; choose one of ${listed(config.contexts)}`)
}

const listed = (entries: ReadonlyMap<string, unknown>) =>
  entries.size === 0 ? 'none' : [...entries.keys()].map(quoted).join(', ')

function named<E>(entries: ReadonlyMap<string, E>, what: string, name: string): E {
  const entry = entries.get(name)
  if (entry) return entry
  if (name === '') throw new Error(`the kubeconfig's context names no ${what}`)
  throw new Error(`the kubeconfig has no ${what} ${quoted(name)}; there is ${listed(entries)}`)
}

function serverOf({ server = '' }: ClusterEntry, name: string): URL {
  if (server === '') throw new Error(`cluster ${quoted(name)} of the kubeconfig has no server`)
  // As in kubectl, an address without a scheme is HTTP.
  const text = server.includes('://') ? server : `http://${server}`
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new Error(`server ${quoted(server)} of cluster ${quoted(name)} is not a URL`)
  return new URL(text)
}

/** The kubeconfig extension with the other servers of the cluster; kubectl ignores it. */
const serversExtension = 'coxswain.io/servers'
const serversEveryMs = 10_000

/**
 * Returns the other servers in the cluster's entry. The kubeconfig is reread from time to time, because servers come
 * and go.
 */
function otherServersOf(cluster: ClusterEntry, name: string, clock: Clock): (() => readonly URL[]) | undefined {
  const listed = serversIn(cluster)
  if (!listed) return undefined
  const file = new WatchedFile(cluster.file, 'the kubeconfig', clock, serversEveryMs)
  let text: string | undefined
  let servers = listed
  return () => {
    try {
      const now = file.content()
      if (now !== text)
        servers = serversIn(readConfig(parseYaml(now).value, cluster.file).clusters.get(name)!) ?? servers
      text = now
    } catch {
      // An unreadable file, which may be in the middle of an edit, leaves the previous servers.
    }
    return servers
  }
}

function serversIn({ extensions }: ClusterEntry): URL[] | undefined {
  const extension = extensions?.find((e) => e.name === serversExtension)?.extension as { servers?: unknown } | undefined
  if (!extension) return undefined
  const { servers } = extension
  return Array.isArray(servers)
    ? servers.flatMap((one) => (typeof one === 'string' && URL.canParse(one) ? [new URL(one)] : []))
    : []
}

/** Returns the inline data of an entry, or the file that it names. */
function sourceOf<E extends { file: string }>(
  entry: E,
  field: keyof E & string,
  what: string,
  clock: Clock,
  everyMs: number,
): Source | undefined {
  const data = (entry as Record<string, unknown>)[`${field}-data`] as string | undefined
  if (data) return fixedSource(decoded(data, `${field}-data of ${what}`))
  const file = entry[field] as string | undefined
  if (!file) return undefined
  const source = new WatchedFile(path.resolve(path.dirname(entry.file), file), `${field} of ${what}`, clock, everyMs)
  // Reports a missing file now instead of at the first request.
  source.content()
  return source
}

function decoded(base64: string, what: string): string {
  const text = base64.replaceAll(/\s/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new Error(`${what} is not base64`)
  return Buffer.from(text, 'base64').toString('utf8')
}

function certificateAuthority(cluster: ClusterEntry, name: string, clock: Clock): Source | undefined {
  const source = sourceOf(cluster, 'certificate-authority', `cluster ${quoted(name)}`, clock, certificateEveryMs)
  if (source && cluster['insecure-skip-tls-verify']) {
    throw new Error(`cluster ${quoted(name)} has both a certificate-authority and insecure-skip-tls-verify`)
  }
  return source
}

function impersonation(user: UserEntry, name: string): Record<string, string | string[]> {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user
  if (!as) {
    if (uid || groups?.length || extra)
      throw new Error(`user ${quoted(name)} impersonates a uid, groups or extra without a user`)
    return {}
  }
  const headers: Record<string, string | string[]> = { 'impersonate-user': as }
  if (uid) headers['impersonate-uid'] = uid
  if (groups?.length) headers['impersonate-group'] = groups
  for (const [key, values] of Object.entries(extra ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values
  return headers
}

function credentialsOf(
  user: UserEntry,
  name: string,
  cluster: () => ExecClusterInfo,
  around: Surroundings,
): Credentials {
  const whose = `user ${quoted(name)}`
  if (user['auth-provider']) {
    throw new Error(
      `${whose} has auth-provider ${quoted(user['auth-provider'].name ?? '')}, which Kubernetes has removed: use an exec plug-in`,
    )
  }
  if (user.exec) return execCredentials(user, name, cluster(), around)
  const { clock } = around
  const token = user.tokenFile
    ? sourceOf(user, 'tokenFile', whose, clock, tokenEveryMs)
    : user.token
      ? fixedSource(user.token)
      : undefined
  const basic =
    user.username || user.password ? { username: user.username ?? '', password: user.password ?? '' } : undefined
  if (token && basic) throw new Error(`${whose} has both a token and a password`)
  const certificate = sourceOf(user, 'client-certificate', whose, clock, certificateEveryMs)
  const key = sourceOf(user, 'client-key', whose, clock, certificateEveryMs)
  if (certificate && !key) throw new Error(`${whose} has a client-certificate without a client-key`)
  return new FileCredentials({ token, basic, certificate: certificate && key && { certificate, key } })
}

function execCredentials(
  user: UserEntry,
  name: string,
  cluster: ExecClusterInfo,
  { clock, env, run, isTerminal }: Surroundings,
): Credentials {
  const exec = user.exec!
  const whose = `exec plug-in of user ${quoted(name)}`
  if (!exec.command) throw new Error(`${whose} has no command`)
  if (!execVersions.includes(exec.apiVersion ?? ''))
    throw new Error(`${whose} has apiVersion ${quoted(exec.apiVersion ?? '')}; there is ${execVersions.join(', ')}`)
  const modes = ['Never', 'IfAvailable', 'Always']
  if (exec.interactiveMode && !modes.includes(exec.interactiveMode))
    throw new Error(`${whose} has interactiveMode ${quoted(exec.interactiveMode)}; there is ${modes.join(', ')}`)
  if (!exec.interactiveMode && exec.apiVersion === execVersions[0]) throw new Error(`${whose} has no interactiveMode`)
  // A bare name is looked up in PATH; any other path is relative to the kubeconfig.
  const command =
    exec.command.includes('/') || exec.command.includes(path.sep)
      ? path.resolve(path.dirname(user.file), exec.command)
      : exec.command
  return new ExecPlugin({ user: name, exec, command, cluster, run, clock, env, isTerminal })
}

const execExtension = 'client.authentication.k8s.io/exec'

function execCluster(cluster: ClusterEntry, authority: Source | undefined): ExecClusterInfo {
  const { 'tls-server-name': name, 'insecure-skip-tls-verify': isInsecure, 'proxy-url': proxy } = cluster
  const config = cluster.extensions?.find((e) => e.name === execExtension)?.extension
  return {
    server: cluster.server ?? '',
    ...(name ? { 'tls-server-name': name } : {}),
    ...(isInsecure ? { 'insecure-skip-tls-verify': true } : {}),
    ...(authority ? { 'certificate-authority-data': Buffer.from(authority.content()).toString('base64') } : {}),
    ...(proxy ? { 'proxy-url': proxy } : {}),
    ...(config === undefined ? {} : { config }),
  }
}
