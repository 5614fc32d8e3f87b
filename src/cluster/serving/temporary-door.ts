import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemClock } from '../../base/clock.ts'
import {
  type ApiServer,
  createAuthority,
  issueClientCertificate,
  issueServerCertificate,
  listen,
} from '../../server/index.ts'
import { kubeconfigText } from '../keys/kubeconfig.ts'
import { replaceFile } from '../../base/durable-files.ts'

/** A temporary listener of an API server. */
export interface TemporaryDoor {
  url: string
  kubeconfig: string
  close(): Promise<void>
}

/** Listens on a free port of the loopback interface, with certificates and a kubeconfig that are removed on close. */
export async function openDoor(server: ApiServer): Promise<TemporaryDoor> {
  // Clients check certificates by the real time, even if the server uses a virtual clock.
  const nowMs = systemClock.now()
  const authority = createAuthority(nowMs)
  const user = 'kubernetes-admin'
  const listener = await listen({
    address: '127.0.0.1',
    port: 0,
    serving: issueServerCertificate(authority, ['localhost', '127.0.0.1'], nowMs),
    clientAuthorities: [authority.certificate],
    handle: (exchange) => server.handle(exchange),
  })
  const folder = await mkdtemp(path.join(tmpdir(), 'coxswain-'))
  const kubeconfig = path.join(folder, 'kubeconfig')
  const url = `https://127.0.0.1:${listener.port}`
  const client = issueClientCertificate(authority, { commonName: user, organizations: ['system:masters'] }, nowMs)
  replaceFile(kubeconfig, kubeconfigText(url, authority.certificate, user, client))
  return {
    url,
    kubeconfig,
    async close() {
      await listener.close(0)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
