import { X509Certificate, createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type DetailedPeerCertificate, connect } from 'node:tls'
import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { pemText } from '../../api/x509/index.ts'
import { HttpTransport, fixedCredentials } from '../../client/index.ts'
import { NodeCertificates, clientSigner, requestCertificate } from '../keys/node-certificates.ts'
import { withServers } from '../keys/kubeconfig.ts'
import { replaceFile } from '../../base/durable-files.ts'

export interface JoinFlags {
  server: URL
  /** Other servers of the cluster, used while `server` does not answer. */
  otherServers?: readonly URL[]
  /** The bootstrap token, ID.SECRET. Undefined if the node has joined before. */
  token: string | undefined
  /** Hashes `sha256:HEX` of public keys; the CA's key must match one of them. */
  caCertHashes: readonly string[]
}

export interface JoinOptions extends JoinFlags {
  nodeName: string
  /** Directory for certificates and the kubeconfig. */
  dataDir: string
  logger: Logger
}

export interface Joined {
  kubeconfig: string
  certificates: NodeCertificates
}

const timeoutMs = 30_000
const longestChain = 10

/** Returns the hash of a certificate's public key in kubeadm's format. */
export const keyHash = (certificate: X509Certificate): string =>
  `sha256:${createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')}`

/** Returns the CA, in PEM, from the certificates that a server presents, identified by the hash of its public key. */
export async function fetchAuthority(server: URL, hashes: readonly string[]): Promise<string> {
  const chain = await shownChain(server)
  const found = chain.find((one) => hashes.includes(keyHash(one)) && one.ca)
  if (!found) throw new Error(`--ca-cert-hash: ${server.origin} presents no certificate authority with this hash`)
  return pemText('CERTIFICATE', found.raw)
}

/** Returns the presented certificates. Sends nothing, because the server is not verified yet. */
function shownChain(server: URL): Promise<X509Certificate[]> {
  return new Promise((resolve, reject) => {
    const host = server.hostname.replace(/^\[|\]$/g, '')
    const options = { host, port: Number(server.port) || 443, rejectUnauthorized: false, timeout: timeoutMs }
    const socket = connect(options, () => {
      const chain: X509Certificate[] = []
      let at: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
      for (let i = 0; i < longestChain && at?.raw; i++) {
        chain.push(new X509Certificate(at.raw))
        at = at.issuerCertificate === at ? undefined : at.issuerCertificate
      }
      socket.destroy()
      resolve(chain)
    })
    socket.once('timeout', () => socket.destroy(new Error('no answer')))
    socket.once('error', (e) => reject(new Error(`--server: ${server.origin}: ${e.message}`, { cause: e })))
  })
}

/**
 * Joins this machine to a cluster as a node: verifies the CA by its hash, requests a client certificate with a
 * bootstrap token, and writes a kubeconfig. A node that has joined before keeps its files.
 */
export async function joinCluster(options: JoinOptions): Promise<Joined> {
  const { server, token, caCertHashes, nodeName, dataDir, logger } = options
  const dir = path.join(dataDir, 'pki')
  const certificates = new NodeCertificates(dir, nodeName, systemClock, logger)
  const files = { authority: path.join(dir, 'ca.crt'), kubeconfig: path.join(dataDir, 'node.kubeconfig') }
  if (existsSync(files.authority) && certificates.client.isValid(nodeName, systemClock.now())) {
    replaceFile(
      files.kubeconfig,
      joinedKubeconfig([server, ...(options.otherServers ?? [])], files.authority, certificates.client.file),
    )
    return { kubeconfig: files.kubeconfig, certificates }
  }
  if (!token) throw new Error('--token: a node that has not joined yet needs a bootstrap token')
  if (caCertHashes.length === 0) throw new Error('--ca-cert-hash: a node that has not joined yet needs one')
  const authority = await fetchAuthority(server, caCertHashes)
  const others = options.otherServers
  const access = {
    server,
    ...(others?.length ? { otherServers: () => others } : {}),
    authority: () => authority,
    insecureSkipTlsVerify: false,
    headers: {},
    namespace: 'default',
    credentials: fixedCredentials({ authorization: `Bearer ${token}` }),
  }
  const transport = new HttpTransport(access, { userAgent: 'coxswain-node/join' })
  try {
    logger.info('requesting a certificate for the node', { server: server.origin, node: nodeName })
    certificates.client.write(await requestCertificate({ transport, nodeName, clock: systemClock }, clientSigner))
  } catch (e) {
    throw new Error(`--join: ${(e as Error).message}`, { cause: e })
  } finally {
    await transport.close()
  }
  replaceFile(files.authority, authority)
  replaceFile(
    files.kubeconfig,
    joinedKubeconfig([server, ...(options.otherServers ?? [])], files.authority, certificates.client.file),
  )
  return { kubeconfig: files.kubeconfig, certificates }
}

/** Returns a kubeconfig that refers to files, so that clients see a renewed certificate within a minute. */
const joinedKubeconfig = ([server, ...others]: readonly URL[], authority: string, client: string): string =>
  withServers(
    `apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: ${server!.origin}
    certificate-authority: ${JSON.stringify(path.resolve(authority))}
users:
- name: node
  user:
    client-certificate: ${JSON.stringify(path.resolve(client))}
    client-key: ${JSON.stringify(path.resolve(client))}
contexts:
- name: node
  context: { cluster: cluster, user: node }
current-context: node
`,
    server!.origin,
    others.map(({ origin }) => origin),
  )
