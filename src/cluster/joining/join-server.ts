import { systemClock } from '../../base/clock.ts'
import type { Secret } from '../../api/generated/types.ts'
import { HttpTransport, fixedCredentials } from '../../client/index.ts'
import { type JoinFlags, fetchAuthority } from './join-node.ts'
import type { ServeOptions } from '../serving/serve-options.ts'
import { type ServerBundle, flagsOf, keepBundle, keptBundle, openBundle } from '../keys/server-bundle.ts'

/** Flags of `coxswain up --join`. A server that has joined before needs none of them. */
export interface JoinServerFlags extends Partial<JoinFlags> {
  /** The key printed by `coxswain token create`. */
  certificateKey: string | undefined
}

/** Returns the name of the Secret with the servers' bundle for the owner of a bootstrap token. */
export const bundleSecret = (tokenId: string): string => `coxswain-server-join-${tokenId}`
export const bundleField = 'bundle'

/**
 * Joins the starting server to an existing cluster: reads the etcd endpoints and credentials with a bootstrap token,
 * and stores them in the data directory. A server that has joined before uses the stored ones.
 */
export async function joinServers(options: ServeOptions, flags: JoinServerFlags): Promise<ServeOptions> {
  const { dataDir } = options
  const kept = keptBundle(dataDir)
  const bundle = kept ?? (await fetchNew(options, flags))
  const given = flagsOf(bundle, dataDir, kept !== undefined)
  return {
    ...options,
    ...given,
    nodePorts: options.nodePorts ?? given.nodePorts,
    encryption: options.encryption ?? given.encryption,
    tokenIssuers: options.tokenIssuers?.length ? options.tokenIssuers : (given.tokenIssuers ?? []),
  }
}

async function fetchNew({ dataDir, logger }: ServeOptions, flags: JoinServerFlags): Promise<ServerBundle> {
  logger.info('requesting the shared configuration of the cluster', { server: flags.server?.origin })
  const bundle = await fetchBundle(flags)
  keepBundle(dataDir, bundle)
  return bundle
}

async function fetchBundle({
  server,
  token,
  caCertHashes = [],
  certificateKey,
}: JoinServerFlags): Promise<ServerBundle> {
  const need = (flag: string) => new Error(`--join: a server that has not joined yet needs ${flag}`)
  if (!server) throw need('--server')
  if (!token) throw need('--token')
  if (caCertHashes.length === 0) throw need('--ca-cert-hash')
  if (!certificateKey) throw need('--certificate-key')
  const authority = await fetchAuthority(server, caCertHashes)
  const credentials = fixedCredentials({ authorization: `Bearer ${token}` })
  const access = {
    server,
    authority: () => authority,
    insecureSkipTlsVerify: false,
    headers: {},
    namespace: 'kube-system',
    credentials,
  }
  const transport = new HttpTransport(access, { userAgent: 'coxswain-up/join', clock: systemClock })
  const path = `/api/v1/namespaces/kube-system/secrets/${bundleSecret(token.split('.')[0]!)}`
  const { data } = await transport
    .send<Secret>({ method: 'GET', path })
    .catch((e: Error) => {
      throw new Error(`--join: ${e.message}`, { cause: e })
    })
    .finally(() => transport.close())
  const sealed = Buffer.from(data?.[bundleField] ?? '', 'base64')
  try {
    return openBundle(sealed, certificateKey)
  } catch (e) {
    throw new Error('--certificate-key: does not match the key of the cluster for this token', { cause: e })
  }
}
