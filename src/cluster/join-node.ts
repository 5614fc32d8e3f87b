import { X509Certificate, createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type DetailedPeerCertificate, connect } from 'node:tls'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { pemText } from '../api/x509/index.ts'
import { HttpTransport, fixedCredentials } from '../client/index.ts'
import { NodeCertificates, clientSigner, requestCertificate } from './node-certificates.ts'
import { writePrivateFile } from './pki.ts'

export interface JoinFlags {
  server: URL
  /** ID.SECRET of a bootstrap token. Undefined where the node has joined before. */
  token: string | undefined
  /** `sha256:HEX` of public keys, one of which is the authority's. */
  caCertHashes: readonly string[]
}

export interface JoinOptions extends JoinFlags {
  nodeName: string
  /** Where certificates and the kubeconfig are kept. */
  dataDir: string
  logger: Logger
}

export interface Joined {
  kubeconfig: string
  certificates: NodeCertificates
}

const timeoutMs = 30_000
const longestChain = 10

/** The hash of a certificate's public key, as kubeadm writes it. */
export const keyHash = (certificate: X509Certificate): string =>
  `sha256:${createHash('sha256').update(certificate.publicKey.export({ type: 'spki', format: 'der' })).digest('hex')}`

/** The authority among the certificates that a server shows, in PEM, by the hash of its public key. */
export async function fetchAuthority(server: URL, hashes: readonly string[]): Promise<string> {
  const chain = await shownChain(server)
  const found = chain.find((one) => hashes.includes(keyHash(one)) && one.ca)
  if (!found) throw new Error(`--ca-cert-hash: ${server.origin} shows no authority with this hash`)
  return pemText('CERTIFICATE', found.raw)
}

/** Nothing is sent over this connection: its other end is not known yet. */
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
 * Makes this machine a node of a cluster: trusts the server by the hash of its authority, gets a client certificate
 * with a bootstrap token, and writes a kubeconfig. A node that has joined before goes on with what it has.
 */
export async function joinCluster(options: JoinOptions): Promise<Joined> {
  const { server, token, caCertHashes, nodeName, dataDir, logger } = options
  const dir = path.join(dataDir, 'pki')
  const certificates = new NodeCertificates(dir, nodeName, systemClock, logger)
  const files = { authority: path.join(dir, 'ca.crt'), kubeconfig: path.join(dataDir, 'node.kubeconfig') }
  if (existsSync(files.authority) && certificates.client.isValid(nodeName, systemClock.now())) {
    writePrivateFile(files.kubeconfig, joinedKubeconfig(server, files.authority, certificates.client.file))
    return { kubeconfig: files.kubeconfig, certificates }
  }
  if (!token) throw new Error('--token: a node that has not joined yet needs a bootstrap token')
  if (caCertHashes.length === 0) throw new Error('--ca-cert-hash: a node that has not joined yet needs one')
  const authority = await fetchAuthority(server, caCertHashes)
  const access = {
    server, authority: () => authority, insecureSkipTlsVerify: false, headers: {}, namespace: 'default',
    credentials: fixedCredentials({ authorization: `Bearer ${token}` }),
  }
  const transport = new HttpTransport(access, { userAgent: 'coxswain-node/join' })
  try {
    logger.info('asking for a certificate of the node', { server: server.origin, node: nodeName })
    certificates.client.write(await requestCertificate({ transport, nodeName, clock: systemClock }, clientSigner))
  } catch (e) {
    throw new Error(`--join: ${(e as Error).message}`, { cause: e })
  } finally {
    await transport.close()
  }
  writePrivateFile(files.authority, authority)
  writePrivateFile(files.kubeconfig, joinedKubeconfig(server, files.authority, certificates.client.file))
  return { kubeconfig: files.kubeconfig, certificates }
}

/** A kubeconfig that names files: whoever uses it sees a renewed certificate within a minute. */
const joinedKubeconfig = (server: URL, authority: string, client: string): string => `apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: ${server.origin}
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
`
