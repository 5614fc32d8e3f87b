import { describe, expect, it } from 'vitest'
import { ask } from '../kubectl/ask.ts'
import { useCluster } from '../kubectl/cluster.ts'
import { runCoxswain, startControllers } from '../kubectl/coxswain.ts'

const cluster = useCluster()
const lease = 'get lease kube-controller-manager -n kube-system'
const holder = () => cluster.kubectl.ok(`${lease} -o jsonpath={.spec.holderIdentity}`)

describe('coxswain controllers', () => {
  it.each([
    ['a controller that does not exist', ['--controllers', '*,-sails-controller'], '"sails-controller" is not in the list of known controllers: '],
    ['a kubeconfig that does not exist', ['--kubeconfig', '/nonexistent/kubeconfig'], 'kubeconfig /nonexistent/kubeconfig does not exist'],
    ['a root CA that does not exist', ['--root-ca-file', '/nonexistent/ca.crt'], '--root-ca-file: ENOENT'],
    ['a feature gate that does not exist', ['--feature-gates', 'Sails=true'], 'unrecognized feature gate: Sails'],
    ['an election that is neither on nor off', ['--leader-elect=perhaps'], 'must be true or false'],
    ['a number of workers that is none', ['--concurrent-deployment-syncs', '0'], 'must be a number from 1 to 999999'],
    ['a lease that runs out before it is renewed', ['--leader-elect-lease-duration', '5s'], 'renewDeadline'],
  ])('says in one line why it cannot start: %s', async (_, flags, reason) => {
    const { code, out, err } = await runCoxswain(['controllers', '--kubeconfig', cluster.server.kubeconfig, ...flags])
    expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 })
    expect(err).toContain(reason)
  })

  it('acts while it holds the lease, says how it is, and gives the lease up when it is stopped', async () => {
    const first = await startControllers(cluster.server.kubeconfig)
    expect(first.role).toBe('acting')
    const leader = await holder()
    expect(await ask(first.url, '/readyz?verbose')).toEqual({
      code: 200,
      text: expect.stringMatching(/^\[\+\]ping ok\n\[\+\]controllers ok\n\[\+\]caches ok\n\[\+\]apis ok: all required APIs are served\n\[\+\]event-loop ok: at most \d+ ms late in the last minute\nreadyz check passed\n$/) as string,
    })
    expect(await ask(first.url, '/livez')).toEqual({ code: 200, text: 'ok' })
    expect((await ask(first.url, '/metrics')).text).toContain('leader_election_master_status{name="kube-controller-manager"} 1\n')
    expect((await ask(first.url, '/sails')).code).toBe(404)

    const second = await startControllers(cluster.server.kubeconfig)
    expect(second.role).toBe(`standing by, the leader is ${leader}`)
    expect((await ask(second.url, '/readyz')).code).toBe(200)
    const began = performance.now()
    expect(await first.stop()).toMatchObject({ code: 0, err: '' })
    expect(performance.now() - began).toBeLessThan(5000)

    await expect.poll(holder, { timeout: 5000 }).not.toBe(leader)
    expect(await second.stop('SIGINT')).toMatchObject({ code: 0, err: '' })
    expect(await holder()).toBe('')
  })

  it('acts at once without an election, and leaves the lease alone', async () => {
    const before = await cluster.kubectl.ok(`${lease} -o yaml --ignore-not-found`)
    const controllers = await startControllers(cluster.server.kubeconfig, ['--leader-elect=false', '--concurrent-deployment-syncs', '2'])
    expect(controllers.role).toBe('acting')
    expect((await ask(controllers.url, '/readyz')).code).toBe(200)
    expect(await controllers.stop()).toMatchObject({ code: 0, err: '' })
    expect(await cluster.kubectl.ok(`${lease} -o yaml --ignore-not-found`)).toBe(before)
  })
})
