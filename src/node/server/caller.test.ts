import { expect, it } from 'vitest'
import { isApiServer } from './caller.ts'

it.each([
  ['the API server', { CN: 'kube-apiserver-kubelet-client', O: 'kubeadm:cluster-admins' }, true],
  ['an admin', { CN: 'kubernetes-admin', O: ['x', 'system:masters'] }, true],
  ['another node', { CN: 'system:node:n2', O: 'system:nodes' }, false],
  ['a user whose name is a group', { CN: 'system:masters' }, false],
  ['nobody', {}, false],
])('isApiServer() of %s', (_who, subject, expected) => {
  expect(isApiServer(subject)).toBe(expected)
})
