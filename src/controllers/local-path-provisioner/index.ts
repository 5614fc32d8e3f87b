import type { ManagedController } from '../kit/index.ts'
import { localPathMaker } from './provision.ts'
import { localPathRemover } from './remove.ts'
import { standardClassMaker } from './standard-class.ts'

/** Makes and deletes volumes that are directories of nodes, below `root`, and the class by which they are asked for. */
export const localPathControllers = (root: string): readonly ManagedController[] => [standardClassMaker, localPathMaker(root), localPathRemover]
