import { type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { type DeskAct, DeskAccess, type DeskRight, type DeskStaff } from 'nestjs-card-payment/desk';
import { staffIn, type StaffRole } from './staff.guard.js';

const RIGHTS: Readonly<Record<StaffRole, readonly DeskRight[]>> = {
  clerk: ['look', 'ask'],
  manager: ['look', 'ask', 'settle', 'refund', 'replay'],
};

/** Who may do what at the desk. */
@Injectable()
export class StaffAccess extends DeskAccess {
  private readonly logger = new Logger('Desk');

  staffOf(context: ExecutionContext): DeskStaff | null {
    const member = staffIn(context);
    return member && { name: member.name, rights: RIGHTS[member.role] };
  }

  /** A shop with an audit log writes to it here: if that fails, nothing is done. */
  override record({ staff, act, conversationId }: DeskAct): void {
    this.logger.log(`${staff}: ${act} of ${conversationId}`);
  }
}
