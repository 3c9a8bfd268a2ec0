import { Module } from '@nestjs/common';
import { PasswordGuesses } from './password-guesses.js';
import { StaffAccess } from './staff-access.js';
import { StaffGuard } from './staff.guard.js';

/** One count of wrong passwords for the desk, the figures and the metrics. */
@Module({ providers: [PasswordGuesses, StaffGuard, StaffAccess], exports: [PasswordGuesses, StaffGuard, StaffAccess] })
export class StaffModule {}
