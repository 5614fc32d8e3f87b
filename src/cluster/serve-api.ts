import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { systemRandom } from '../base/random.ts'
import {
  ApiServer,
  Authenticator,
  type FairnessSettings,
  type KeyPair,
  type ResourceSettings,
  chooseAdmission,
  issueClientCertificate,
  issueServerCertificate,
  listen,
  parseTokenFile,
} from '../server/index.ts'
import { type Store, openLmdbStore, openMemoryStore, startCompactor } from '../store/index.ts'
import { readAdmissionConfiguration } from './admission-configuration.ts'
import { readCertificates, readFlagFile } from './flag-files.ts'
import { isKubeconfigValid, kubeconfigText } from './kubeconfig.ts'
import { loadAuthority, loadTokenKey, writePrivateFile } from './pki.ts'
import { type AuthorizationFlags, readAuthorization } from './read-authorization.ts'
import { reachable } from './reachable.ts'
import { controllerManagerUser, monitorUser, schedulerUser } from './users.ts'
import { watchLoop } from './watch-loop.ts'

export interface ServeOptions {
  dataDir: string
  store: 'lmdb' | 'memory'
  bindAddress: string
  securePort: number
  kubeconfigOut: string | undefined
  tokenAuthFile: string | undefined
  clientCaFile: string | undefined
  /** --enable-admission-plugins */
  enabledAdmission?: readonly string[]
  disabledAdmission: readonly string[]
  /** Default: Node and RBAC. */
  authorization?: AuthorizationFlags
  /** --admission-control-config-file */
  admissionConfigFile?: string | undefined
  gates: FeatureGates
  settings?: ResourceSettings
  fairness?: FairnessSettings
  /** --service-account-issuer: the first issues tokens, all are accepted. */
  tokenIssuers?: readonly string[]
  jwksUri?: string | undefined
  release: string
  logger: Logger
}

export interface RunningApi {
  url: string
  kubeconfig: string
  server: ApiServer
  /** The certificate that vouches for it, in PEM. */
  authority: string
  /** The cluster's authority with its key, which signs certificates. */
  signer: KeyPair
  /** Ends cleanly: answers what was asked, then lets go of the store. */
  stop(): Promise<void>
}

/** How long a stop waits for requests that are being answered. */
const stopGraceMs = 3000

/** History is kept for five minutes, as Kubernetes does, and no longer than this many revisions. */
const history = { maxAgeMs: 5 * 60_000, maxRevisions: 100_000, intervalMs: 60_000 }

/** Who the API server is to nodes; Kubernetes' own name for it. */
const nodeClientSubject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }

/** Starts an API server that listens: store, certificates, socket, kubeconfig. */
export async function serveApi(options: ServeOptions): Promise<RunningApi> {
  const { dataDir, logger } = options
  makeDataDir(dataDir)
  const configurations = options.admissionConfigFile ? readAdmissionConfiguration(options.admissionConfigFile) : undefined
  const plugins = chooseAdmission({
    enabled: options.enabledAdmission ?? [],
    disabled: options.disabledAdmission,
    ...(configurations ? { configurations } : {}),
  })
  const tokens = options.tokenAuthFile ? parseTokenFile(readFlagFile('--token-auth-file', options.tokenAuthFile)) : undefined
  const authorization = await readAuthorization(options.authorization)
  const store = await openStore(options)
  try {
    const now = Date.now()
    const authority = loadAuthority(dataDir, now)
    const clientAuthorities = [authority.certificate, ...(options.clientCaFile ? [readCertificates('--client-ca-file', options.clientCaFile)] : [])]
    const server = await ApiServer.open({
      store,
      gates: options.gates,
      authenticator: new Authenticator(tokens),
      admission: plugins,
      ...authorization,
      clock: systemClock,
      random: systemRandom,
      logger,
      release: options.release,
      address: `${options.bindAddress}:${options.securePort}`,
      tokenKey: loadTokenKey(dataDir),
      ...(options.fairness ? { fairness: options.fairness } : {}),
      ...(options.settings ? { settings: options.settings } : {}),
      ...(options.tokenIssuers?.length ? { tokenIssuers: options.tokenIssuers } : {}),
      ...(options.jwksUri ? { jwksUri: options.jwksUri } : {}),
      nodeClient: issueClientCertificate(authority, nodeClientSubject, now),
      clientAuthorities: { clients: clientAuthorities.join('\n'), proxies: authority.certificate },
    })
    const { listener, url, kubeconfig } = await openDoor(options, server, authority, clientAuthorities, now).catch((e: unknown) => {
      server.close()
      throw e
    })
    const stopCompactor = startCompactor(store, { clock: systemClock, ...history, onError: (error) => logger.warn('history could not be compacted', { error }) })
    const stopWatchingLoop = watchLoop(server.metrics, server.health)
    logger.info('serving the API', { url, kubeconfig, store: options.store, release: options.release, revision: store.revision })
    return {
      url,
      kubeconfig,
      server,
      authority: authority.certificate,
      signer: authority,
      async stop() {
        server.beginStop()
        stopCompactor()
        stopWatchingLoop()
        await listener.close(stopGraceMs)
        server.close()
        await store.close()
      },
    }
  } catch (e) {
    await store.close()
    throw e
  }
}

/** Listens, and tells the admin where. */
async function openDoor(options: ServeOptions, server: ApiServer, authority: KeyPair, clientAuthorities: readonly string[], now: number) {
  const listener = await listen({
    address: options.bindAddress,
    port: options.securePort,
    serving: issueServerCertificate(authority, servingHosts(options.bindAddress), now),
    clientAuthorities,
    handle: (exchange) => server.handle(exchange),
  })
  const url = `https://${reachable(options.bindAddress)}:${listener.port}`
  server.openId.serveAt(new URL(url).host)
  try {
    return { listener, url, kubeconfig: writeKubeconfigs(options, url, authority, now) }
  } catch (e) {
    await listener.close(0)
    throw new Error(`--kubeconfig-out: ${(e as Error).message}`, { cause: e })
  }
}

function makeDataDir(dir: string): void {
  if (dir === '') throw new Error('--data-dir: must not be empty')
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (e) {
    throw new Error(`--data-dir: ${(e as Error).message}`, { cause: e })
  }
}

function openStore({ store, dataDir, logger }: ServeOptions): Promise<Store> | Store {
  if (store === 'memory') return openMemoryStore()
  const dir = path.join(dataDir, 'db')
  return openLmdbStore({ dir, onConverted: () => logger.info('data of an older release was converted', { dir }) })
}

function servingHosts(bindAddress: string): string[] {
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', hostname()]
  return [...new Set([...names, '127.0.0.1', '::1', '10.0.0.1', bindAddress])]
}

/** Parts that run in processes of their own have a kubeconfig each, with the rights that they need. */
const partUsers: Readonly<Record<string, string>> = {
  'controller-manager.conf': controllerManagerUser.name,
  'scheduler.conf': schedulerUser.name,
  'monitor.conf': monitorUser.name,
}

/** Answers where that of the admin is. Those that still lead to the server stay as they are. */
function writeKubeconfigs(options: ServeOptions, url: string, authority: KeyPair, now: number): string {
  for (const [name, user] of Object.entries(partUsers)) writeKubeconfig(path.join(options.dataDir, name), { commonName: user, organizations: [] }, url, authority, now)
  const file = options.kubeconfigOut ?? path.join(options.dataDir, 'kubeconfig')
  writeKubeconfig(file, { commonName: 'kubernetes-admin', organizations: ['system:masters'] }, url, authority, now)
  return path.resolve(file)
}

function writeKubeconfig(file: string, user: { commonName: string; organizations: string[] }, url: string, authority: KeyPair, now: number): void {
  const old = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (isKubeconfigValid(old, url, authority.certificate, now)) return
  const client = issueClientCertificate(authority, user, now)
  writePrivateFile(file, kubeconfigText(url, authority.certificate, user.commonName, client))
}
