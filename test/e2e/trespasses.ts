import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { RunningServer } from '../kubectl/coxswain.ts'
import type { Kubectl } from '../kubectl/kubectl.ts'

/** A server with a pod `victim` that has secrets of its own. */
export interface Attacked {
  kubectl: Kubectl
  server: RunningServer
  data: string
  /** A directory of root's that is none of the server's. */
  outside: string
}

/** Runs a line of shell in a container; answers what it wrote, and how it ended. */
export const shellIn = (kubectl: Kubectl, name: string, line: string) => kubectl.run(`exec -i ${name} -- sh`, line)

const findFile = (root: string, ending: string): string =>
  path.join(root, readdirSync(root, { recursive: true, encoding: 'utf8' }).find((file) => file.endsWith(ending))!)

/** Commands that get at what is the server's or the victim's. */
export async function trespassesOn({ kubectl, server, data, outside }: Attacked): Promise<string[]> {
  const pods = path.join(data, 'node/pods')
  const shim = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && commandLine(pid).startsWith(`coxswain-shim ${data}`))!
  const id = (await shellIn(kubectl, 'victim', 'echo $COXSWAIN_CONTAINER_ID')).out.trim()
  const victim = path.join(data, 'node/runtime/containers', id)
  const { pid } = JSON.parse(readFileSync(path.join(victim, 'state.json'), 'utf8')) as { pid: number }
  const files = [
    findFile(path.join(data, 'pki'), 'ca.key'), path.join(data, 'db/data.mdb'), server.kubeconfig, findFile(pods, 'open/key'), findFile(pods, 'empty/y'), findFile(pods, '/token'),
    path.join(data, 'node/users.json'), path.join(victim, 'record.json'),
    `/proc/${server.pid}/environ`, `/proc/${shim}/environ`, `/proc/${pid}/environ`, `/proc/${pid}/root/open/key`, '/etc/shadow',
  ]
  return [
    ...files.map((file) => `cat ${file}`), ...[server.pid, pid, shim].map((one) => `kill -0 ${one}`),
    `ls ${data}`, `ls /proc/${server.pid}/cwd/`, `touch ${outside}/made`, 'mount -t tmpfs none /mnt', `nsenter --target ${server.pid} --mount true`,
  ]
}

/** Those of some commands that succeed in a container. */
export async function successesOf(kubectl: Kubectl, name: string, tries: readonly string[]): Promise<string[]> {
  const { out } = await shellIn(kubectl, name, tries.map((one) => `if ${one} > /dev/null 2>&1; then echo '${one}'; fi`).join('\n'))
  return out.split('\n').filter((line) => line !== '')
}

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
