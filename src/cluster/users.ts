import type { UserInfo } from '../server/index.ts'

/** Who the controllers of this process are to the API. */
export const controllerManagerUser: UserInfo = { name: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] }
