import { Containerd } from './containerd.ts'

let containerd: Containerd | undefined

/** Starts the containerd that tests share; those that break theirs have one of their own. */
export async function setup(): Promise<void> {
  // These tests make bridges and firewall rules: outside of namespaces of their own they would be the machine's.
  if (process.env['COXSWAIN_CRI_NAMESPACES'] !== '1') throw new Error('run them by: node scripts/test-cri.mjs [file…]')
  containerd = await Containerd.start()
  process.env['COXSWAIN_CRI_ENDPOINT'] = containerd.endpoint
  process.env['COXSWAIN_TEST_NODE_FLAGS'] = `--runtime cri --container-runtime-endpoint ${containerd.endpoint}`
}

export async function teardown(): Promise<void> {
  await containerd?.remove()
}
