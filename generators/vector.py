"""Vectors: particles, rays, rotations, neighbourhoods and feature vectors."""

from __future__ import annotations

from generators._vector_boxes import bounding_boxes
from generators._vector_camera import pinhole_camera
from generators._vector_cells import grid_cells
from generators._vector_cloth import spring_network
from generators._vector_colour import colour_grading
from generators._vector_costs import residual_costs
from generators._vector_curves import curve_points
from generators._vector_distance import point_distance
from generators._vector_features import compare_features
from generators._vector_fields import vector_fields
from generators._vector_neighbours import neighbour_forces
from generators._vector_norms import embedding_norms
from generators._vector_orbits import orbit_step
from generators._vector_particles import particle_step, particle_structs
from generators._vector_projection import vector_projection
from generators._vector_random import random_vectors
from generators._vector_ray_hits import ray_shapes
from generators._vector_rays import ray_sphere
from generators._vector_rigid_adjoint import adjoint_inertia
from generators._vector_rigid_blend import pose_blend
from generators._vector_rigid_camera import extrinsic_camera
from generators._vector_rigid_chain import forward_kinematics
from generators._vector_rigid_control import attitude_control
from generators._vector_rigid_drive import joint_drive
from generators._vector_rigid_dynamics import joint_dynamics
from generators._vector_rigid_error import attitude_error
from generators._vector_rigid_euler import euler_rotation
from generators._vector_rigid_fit import point_registration
from generators._vector_rigid_frames import frame_conversion
from generators._vector_rigid_handeye import hand_eye
from generators._vector_rigid_impulse import contact_velocity
from generators._vector_rigid_imu import imu_integration
from generators._vector_rigid_instances import instanced_points
from generators._vector_rigid_links import link_chain
from generators._vector_rigid_lookat import look_at
from generators._vector_rigid_rotors import rotor_wrench
from generators._vector_rigid_rpy import read_euler
from generators._vector_rigid_skin import skinning
from generators._vector_rigid_spatial import move_spatial
from generators._vector_rigid_spin import orientation_step
from generators._vector_rigid_tree import frame_tree
from generators._vector_rigid_triad import triad_attitude
from generators._vector_rigid_twist import swing_twist
from generators._vector_rigid_wrench import wrench_sum
from generators._vector_rotations import rigid_motion
from generators._vector_sdf import signed_distance
from generators._vector_shading import shading
from generators._vector_steering import steering
from generators._vector_surfaces import surface_response
from generators._vector_triangles import triangle_geometry
from generators.registry import Category

CATEGORY = Category("vector", "vectors, rotations and structs: particles, rays, geometry")

for _idiom in (
    surface_response,
    ray_sphere,
    rigid_motion,
    neighbour_forces,
    particle_step,
    particle_structs,
    compare_features,
    vector_projection,
    point_distance,
    ray_shapes,
    triangle_geometry,
    steering,
    spring_network,
    signed_distance,
    embedding_norms,
    bounding_boxes,
    colour_grading,
    shading,
    vector_fields,
    curve_points,
    orbit_step,
    pinhole_camera,
    grid_cells,
    orientation_step,
    attitude_error,
    attitude_control,
    swing_twist,
    euler_rotation,
    read_euler,
    contact_velocity,
    wrench_sum,
    forward_kinematics,
    move_spatial,
    joint_dynamics,
    pose_blend,
    instanced_points,
    look_at,
    joint_drive,
    imu_integration,
    rotor_wrench,
    frame_conversion,
    extrinsic_camera,
    skinning,
    point_registration,
    frame_tree,
    link_chain,
    triad_attitude,
    residual_costs,
    random_vectors,
    hand_eye,
    adjoint_inertia,
):
    CATEGORY.idiom(_idiom)
